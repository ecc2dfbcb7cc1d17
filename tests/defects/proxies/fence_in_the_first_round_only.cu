// A loop stages tiles for bulk stores, and the proxy fence was hoisted out of it.
// launch: grid=1 block=32
// arg: buf:u32[96]
// expect: 0[70] = 70
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    const unsigned thread = threadIdx.x;
    for (unsigned round = 0; round < 3; ++round) {
        tile[thread] = 32 * round + thread; // OTHER
        if (is_fixed || round == 0) fence_async();
        __syncthreads();
        if (thread == 0) {
            store_bulk(out + 32 * round, tile, 128); // FAULT: data_race
            commit_stores();
            wait_reads<0>();
        }
        __syncthreads();
    }
}

extern "C" __global__ void defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(unsigned* out) {
    run<true>(out);
}
