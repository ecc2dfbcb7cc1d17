// Attention scales its sums between two products, without a wgmma.fence before the second one.
// launch: grid=1 block=128 specific
// arg: buf:f32[128]
// expect: 0[5] = 24
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(float* out) {
    __shared__ alignas(1024) Operands operands;
    fill(operands);
    fence_async();
    __syncthreads();
    float sums[4] = {};
    fence_products();
    for (int step = 0; step < 2; ++step) {
        if (is_fixed) fence_products();
        multiply(sums, descriptor(operands.a) + 2 * step, descriptor(operands.b) + 2 * step); // FAULT: missing_wait
        commit_products();
        wait_products<0>();
        if (step == 0) {
            for (float& sum : sums) sum *= 0.5f; // OTHER
        }
    }
    out[threadIdx.x] = sums[0];
}

extern "C" __global__ void defect(float* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(float* out) {
    run<true>(out);
}
