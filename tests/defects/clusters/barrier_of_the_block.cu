// The blocks of a cluster exchange values with a barrier of each block between.
// launch: grid=2 block=32
// arg: buf:u32[64]
// expect: 0[3] = 103
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ unsigned values[32];
    const unsigned rank = rank_in_cluster();
    cluster_barrier();
    values[threadIdx.x] = 100 * rank + threadIdx.x; // OTHER
    if (is_fixed) cluster_barrier();
    else __syncthreads();
    out[32 * blockIdx.x + threadIdx.x] = read_at(&values[threadIdx.x], 1 - rank); // FAULT: data_race
    cluster_barrier();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(unsigned* out) {
    run<true>(out);
}
