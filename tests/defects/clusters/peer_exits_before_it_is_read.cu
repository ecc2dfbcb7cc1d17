// A block reads sums of its peer, which may have exited by then.
// launch: grid=2 block=32
// arg: buf:u32[64]
// expect: 0[3] = 103
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ unsigned values[32];
    const unsigned rank = rank_in_cluster();
    values[threadIdx.x] = 100 * rank + threadIdx.x;
    cluster_barrier();
    out[32 * blockIdx.x + threadIdx.x] = read_at(&values[threadIdx.x], 1 - rank); // FAULT: out_of_bounds
    if (is_fixed) cluster_barrier();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(unsigned* out) {
    run<true>(out);
}
