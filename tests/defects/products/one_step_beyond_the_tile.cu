// The loop over k has one step too many and reads an operand beyond its variable.
// launch: grid=1 block=128 specific
// arg: buf:f32[128]
// expect: 0[5] = 64
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(float* out) {
    __shared__ alignas(1024) unsigned memory[64 * 32];
    for (int index = threadIdx.x; index < 64 * 32; index += 128) memory[index] = ones;
    fence_async();
    __syncthreads();
    float sums[4] = {};
    fence_products();
    const int tiles = is_fixed ? 1 : 2;
    for (int step = 0; step < 4 * tiles; ++step) {
        const unsigned long long next = step / 4 * 512 + step % 4 * 2;
        multiply(sums, descriptor(memory) + next, descriptor(memory)); // FAULT: out_of_bounds
    }
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
