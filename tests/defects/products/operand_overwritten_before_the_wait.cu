// Threads write the next operand after a barrier, while the product that reads the present one is pending.
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
    multiply(sums, descriptor(operands.a), descriptor(operands.b)); // FAULT: data_race
    commit_products();
    if (is_fixed) wait_products<0>();
    __syncthreads();
    operands.a[threadIdx.x] = 0; // OTHER
    wait_products<0>();
    out[threadIdx.x] = sums[0];
}

extern "C" __global__ void defect(float* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(float* out) {
    run<true>(out);
}
