// Thread 0 issues the store, and the elected thread of the second warp waits for groups of its own.
// launch: grid=1 block=64
// arg: buf:u32[64]
// expect: 0[3] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ alignas(128) unsigned tile[64];
    tile[threadIdx.x] = threadIdx.x;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_bulk(out, tile, 256); // FAULT: missing_wait
        commit_stores();
        if (is_fixed) wait_stores<0>();
    }
    if (!is_fixed && threadIdx.x == 32) wait_stores<0>();
}

extern "C" __global__ void defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(unsigned* out) {
    run<true>(out);
}
