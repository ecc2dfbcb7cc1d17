// The last product is issued after the group was committed, so that no wait completes it.
// launch: grid=1 block=128 specific
// arg: buf:f32[128]
// expect: 0[5] = 32
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
    if (!is_fixed) commit_products();
    multiply(sums, descriptor(operands.a) + 2, descriptor(operands.b) + 2); // OTHER
    if (is_fixed) commit_products();
    wait_products<0>();
    out[threadIdx.x] = sums[0]; // FAULT: missing_wait
}

extern "C" __global__ void defect(float* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(float* out) {
    run<true>(out);
}
