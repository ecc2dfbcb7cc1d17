// The consumer executes the proxy fence, but after the first product has been issued.
// launch: grid=1 block=128 specific
// arg: buf:f32[128]
// expect: 0[77] = 32
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(float* out) {
    __shared__ alignas(1024) Operands operands;
    fill(operands); // OTHER
    __syncthreads();
    float sums[4] = {};
    if (is_fixed) fence_async();
    fence_products();
    multiply(sums, descriptor(operands.a), descriptor(operands.b)); // FAULT: data_race
    if (!is_fixed) fence_async();
    multiply(sums, descriptor(operands.a) + 2, descriptor(operands.b) + 2);
    commit_products();
    wait_products<0>();
    out[threadIdx.x] = sums[1];
}

extern "C" __global__ void defect(float* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(float* out) {
    run<true>(out);
}
