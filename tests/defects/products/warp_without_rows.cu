// The last warp has no rows of the matrix and skips the product, which belongs to all four warps.
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
    const bool has_rows = threadIdx.x < 96;
    if (is_fixed || has_rows) {
        fence_products();
        multiply(sums, descriptor(operands.a), descriptor(operands.b)); // FAULT: warp_sync
        commit_products();
        wait_products<0>();
    }
    if (has_rows) out[threadIdx.x] = sums[0];
}

extern "C" __global__ void defect(float* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(float* out) {
    run<true>(out);
}
