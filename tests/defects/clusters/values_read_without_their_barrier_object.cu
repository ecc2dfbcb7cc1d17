// The values of asynchronous stores are read after the cluster barrier, which does not complete them.
// launch: grid=2 block=32
// arg: buf:u32[64]
// expect: 0[3] = 103
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ unsigned values[32];
    __shared__ Barrier full;
    const unsigned rank = rank_in_cluster();
    begin(&full);
    if (threadIdx.x == 0) arrive_expect(&full, 128);
    cluster_barrier();
    const unsigned to = 1 - rank;
    store_async(address_at(&values[threadIdx.x], to), 100 * rank + threadIdx.x, address_at(&full, to)); // OTHER
    if (is_fixed) wait_cluster(&full, 0);
    else cluster_barrier();
    out[32 * blockIdx.x + threadIdx.x] = values[threadIdx.x]; // FAULT: missing_wait
    cluster_barrier();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(unsigned* out) {
    run<true>(out);
}
