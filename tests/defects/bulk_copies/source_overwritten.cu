// The next tile is written where a bulk store still reads the one before.
// launch: grid=1 block=32
// arg: buf:u32[64]
// expect: 0[3] = 3
// expect: 0[35] = 35
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    for (unsigned round = 0; round < 2; ++round) {
        tile[threadIdx.x] = 32 * round + threadIdx.x; // OTHER
        fence_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            store_bulk(out + 32 * round, tile, 128); // FAULT: data_race
            commit_stores();
            if (is_fixed) wait_reads<0>();
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) wait_stores<0>();
}

extern "C" __global__ void defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(unsigned* out) {
    run<true>(out);
}
