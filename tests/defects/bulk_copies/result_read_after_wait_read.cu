// A thread reads the result of its bulk store after a wait for the reads of the source only.
// launch: grid=1 block=32
// arg: buf:u32[32]
// arg: buf:u32[1]
// expect: 1[0] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out, unsigned* again) {
    __shared__ alignas(128) unsigned tile[32];
    tile[threadIdx.x] = threadIdx.x;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_bulk(out, tile, 128);
        commit_stores();
        if (is_fixed) wait_stores<0>();
        else wait_reads<0>();
        again[0] = out[3]; // FAULT: uninitialized_read
    }
}

extern "C" __global__ void defect(unsigned* out, unsigned* again) {
    run<false>(out, again);
}

extern "C" __global__ void fixed(unsigned* out, unsigned* again) {
    run<true>(out, again);
}
