// The mask of a multicast names a third block in a cluster of two.
// launch: grid=2 block=32
// arg: in:u32[32]=iota
// arg: buf:u32[64]
// expect: 1[35] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) arrive_expect(&full, 128);
    cluster_barrier();
    if (rank_in_cluster() == 0 && threadIdx.x == 0) {
        load_multicast(tile, in, 128, &full, is_fixed ? 3 : 7); // FAULT: out_of_bounds
    }
    wait(&full, 0);
    out[32 * blockIdx.x + threadIdx.x] = tile[threadIdx.x];
    cluster_barrier();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
