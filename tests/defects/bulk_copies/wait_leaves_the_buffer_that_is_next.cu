// Two staging buffers, of which the wait must leave none pending before the older one is written again.
// launch: grid=1 block=32
// arg: buf:u32[128]
// expect: 0[3] = 3
// expect: 0[99] = 99
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ alignas(128) unsigned tiles[2][32];
    for (unsigned round = 0; round < 4; ++round) {
        // Two groups may be pending here: the older one reads the buffer of this round.
        if (threadIdx.x == 0) {
            if (is_fixed) wait_reads<1>();
            else wait_reads<2>();
        }
        __syncthreads();
        tiles[round % 2][threadIdx.x] = 32 * round + threadIdx.x; // OTHER
        fence_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            store_bulk(out + 32 * round, tiles[round % 2], 128); // FAULT: data_race
            commit_stores();
        }
    }
    if (threadIdx.x == 0) wait_stores<0>();
}

extern "C" __global__ void defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(unsigned* out) {
    run<true>(out);
}
