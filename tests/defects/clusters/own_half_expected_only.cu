// Each block loads one half of a tile for both, and its phase expects the half that it loads itself.
// launch: grid=2 block=32
// arg: in:u32[64]=iota
// arg: buf:u32[128]
// expect: 1[99] = 35
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[64];
    __shared__ Barrier full;
    const unsigned rank = rank_in_cluster();
    begin(&full);
    if (threadIdx.x == 0) arrive_expect(&full, is_fixed ? 256 : 128);
    cluster_barrier();
    if (threadIdx.x == 0) load_multicast(tile + 32 * rank, in + 32 * rank, 128, &full, 3); // OTHER
    wait(&full, 0);
    for (unsigned half = 0; half < 2; ++half) {
        out[64 * blockIdx.x + 32 * half + threadIdx.x] = tile[32 * half + threadIdx.x]; // FAULT: missing_wait
    }
    cluster_barrier();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
