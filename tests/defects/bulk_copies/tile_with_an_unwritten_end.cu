// The last threads have no element, and the bulk store writes the end of the tile that nothing filled.
// launch: grid=1 block=32
// arg: buf:u32[32]
// arg: u32:28
// expect: 0[27] = 27
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out, unsigned count) {
    __shared__ alignas(128) unsigned tile[32];
    if (threadIdx.x < count) tile[threadIdx.x] = threadIdx.x;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_bulk(out, tile, is_fixed ? 4 * count : 128); // FAULT: uninitialized_read
        commit_stores();
        wait_stores<0>();
    }
}

extern "C" __global__ void defect(unsigned* out, unsigned count) {
    run<false>(out, count);
}

extern "C" __global__ void fixed(unsigned* out, unsigned count) {
    run<true>(out, count);
}
