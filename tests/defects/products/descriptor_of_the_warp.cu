// Each warp describes its own 16 rows, as for mma.sync; a warpgroup has one descriptor of all 64.
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
    const unsigned first = is_fixed ? 0 : 16 * (threadIdx.x / 32);
    fence_products();
    multiply(sums, descriptor(&operands.a[32 * first]), descriptor(operands.b)); // FAULT: warp_sync
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
