// The second operand follows 512 bytes of other data, so that it begins inside a swizzle pattern of 1024 bytes.
// launch: grid=1 block=128 specific
// arg: buf:f32[128]
// expect: 0[5] = 16
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(float* out) {
    __shared__ alignas(1024) unsigned memory[64 * 32 + 256 + 8 * 32 + 256];
    for (int index = threadIdx.x; index < sizeof(memory) / 4; index += 128) memory[index] = ones;
    fence_async();
    __syncthreads();
    const unsigned* b = memory + 64 * 32 + (is_fixed ? 256 : 128);
    float sums[4] = {};
    fence_products();
    multiply(sums, descriptor(memory), descriptor(b)); // FAULT: misaligned
    commit_products();
    wait_products<0>();
    out[threadIdx.x] = sums[0];
}

extern "C" __global__ void defect(float* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(float* out) {
    run<true>(out);
}
