// A consumer releases the stage of its peer after the last tile, when the peer may have exited.
// launch: grid=2 block=32
// arg: buf:u32[64]
// expect: 0[3] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ Barrier empty;
    const unsigned rank = rank_in_cluster();
    begin(&empty);
    cluster_barrier();
    out[32 * blockIdx.x + threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) arrive_at(&empty, 1 - rank); // FAULT: out_of_bounds
    if (is_fixed) cluster_barrier();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(unsigned* out) {
    run<true>(out);
}
