// Threads fill a tile on two paths, and only one of them ends with the proxy fence that the bulk store needs.
// launch: grid=1 block=64
// arg: buf:u32[64]
// expect: 0[7] = 7
// expect: 0[40] = 4
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ alignas(128) unsigned tile[64];
    const unsigned thread = threadIdx.x;
    if (thread < 32) {
        tile[thread] = thread;
        fence_async();
    } else {
        tile[thread] = thread / 10; // OTHER
        if (is_fixed) fence_async();
    }
    __syncthreads();
    if (thread == 0) {
        store_bulk(out, tile, 256); // FAULT: data_race
        commit_stores();
        wait_stores<0>();
    }
}

extern "C" __global__ void defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(unsigned* out) {
    run<true>(out);
}
