// A load goes to both blocks of a cluster; one of them releases the buffer for both.
// launch: grid=2 block=64
// arg: in:u32[96]=iota
// arg: buf:u32[2]
// expect: 1[1] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    __shared__ Barrier empty;
    begin(&full);
    begin(&empty, is_fixed ? 2 : 1);
    cluster_barrier();
    const unsigned rank = rank_in_cluster();
    unsigned seen = 0;
    for (unsigned round = 0; round < 3; ++round) {
        if (threadIdx.x == 32) {
            if (rank == 0 && round > 0) wait_cluster(&empty, round - 1 & 1);
            if (rank == 0) load_multicast(tile, in + 32 * round, 128, &full, 3); // FAULT: barrier_phase
        }
        if (threadIdx.x == 0) {
            arrive_expect(&full, 128);
            wait_cluster(&full, round & 1);
            if (is_fixed || rank == 0) arrive_at(&empty, 0);
            ++seen;
        }
    }
    if (threadIdx.x == 0) out[rank] = seen;
    cluster_barrier();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
