// The proxy fence is that of global memory, but the tile lies in shared memory.
// launch: grid=1 block=32
// arg: buf:u32[32]
// expect: 0[31] = 31
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    const unsigned thread = threadIdx.x;
    tile[thread] = thread; // OTHER
    if (is_fixed) fence_async();
    else asm volatile("fence.proxy.async.global;" ::: "memory");
    __syncthreads();
    if (thread == 0) {
        store_bulk(out, tile, 128); // FAULT: data_race
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
