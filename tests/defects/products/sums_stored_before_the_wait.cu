// The sums are stored before the wait for the product; its twin stores them after it.
// launch: grid=1 block=128 specific
// arg: buf:f32[128]
// expect: 0[5] = 16
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(float* out) {
    __shared__ alignas(1024) Operands operands;
    fill(operands);
    fence_async();
    __syncthreads();
    float sums[4] = {};
    fence_products();
    multiply(sums, descriptor(operands.a), descriptor(operands.b)); // OTHER
    commit_products();
    if (is_fixed) wait_products<0>();
    out[threadIdx.x] = sums[0]; // FAULT: missing_wait
    if (!is_fixed) wait_products<0>();
}

extern "C" __global__ void defect(float* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(float* out) {
    run<true>(out);
}
