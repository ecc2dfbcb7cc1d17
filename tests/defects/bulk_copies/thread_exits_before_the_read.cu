// The thread that stores the tile exits without a wait, so that the shared memory may be given away.
// launch: grid=1 block=32
// arg: buf:u32[32]
// expect: 0[3] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    tile[threadIdx.x] = threadIdx.x;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_bulk(out, tile, 128); // FAULT: missing_wait
        commit_stores();
        if (is_fixed) wait_reads<0>();
    }
}

extern "C" __global__ void defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(unsigned* out) {
    run<true>(out);
}
