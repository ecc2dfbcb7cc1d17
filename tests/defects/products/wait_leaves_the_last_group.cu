// The loop lets one group of products pending, and so does the wait before the epilogue.
// launch: grid=1 block=128 specific
// arg: buf:f32[128]
// expect: 0[5] = 64
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(float* out) {
    __shared__ alignas(1024) Operands operands;
    fill(operands);
    fence_async();
    __syncthreads();
    float sums[4] = {};
    fence_products();
    for (int step = 0; step < 4; ++step) {
        multiply(sums, descriptor(operands.a) + 2 * step, descriptor(operands.b) + 2 * step); // OTHER
        commit_products();
        wait_products<1>();
    }
    if (is_fixed) wait_products<0>();
    else wait_products<1>();
    out[threadIdx.x] = sums[0]; // FAULT: missing_wait
    wait_products<0>();
}

extern "C" __global__ void defect(float* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(float* out) {
    run<true>(out);
}
