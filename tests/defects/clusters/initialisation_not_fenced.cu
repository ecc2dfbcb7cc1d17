// The barrier object of a block is initialised without fence.mbarrier_init, and its peer arrives there.
// launch: grid=2 block=32 strict
// arg: buf:u32[64]
// expect: 0[3] = 1
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ Barrier ready;
    const unsigned rank = rank_in_cluster();
    if (threadIdx.x == 0) {
        init(&ready, 1); // OTHER
        if (is_fixed) fence_init();
    }
    cluster_barrier();
    if (threadIdx.x == 0) arrive_at(&ready, 1 - rank); // FAULT: data_race
    wait_cluster(&ready, 0);
    out[32 * blockIdx.x + threadIdx.x] = 1;
    cluster_barrier();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(unsigned* out) {
    run<true>(out);
}
