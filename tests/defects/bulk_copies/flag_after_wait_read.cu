// A block announces its tile after a wait for the reads of the source only, and another block reads the tile.
// launch: grid=2 block=32
// arg: buf:u32[32]
// arg: buf:u32[32]
// arg: buf:u32[1]=0
// expect: 1[5] = 5
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out, unsigned* again, unsigned* flag) {
    __shared__ alignas(128) unsigned tile[32];
    if (blockIdx.x == 0) {
        tile[threadIdx.x] = threadIdx.x;
        fence_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            store_bulk(out, tile, 128); // OTHER
            commit_stores();
            if (is_fixed) wait_stores<0>();
            else wait_reads<0>();
            __threadfence();
            atomicExch(flag, 1u);
        }
    } else {
        while (atomicAdd(flag, 0u) == 0) {
        }
        __threadfence();
        again[threadIdx.x] = out[threadIdx.x]; // FAULT: data_race
    }
}

extern "C" __global__ void defect(unsigned* out, unsigned* again, unsigned* flag) {
    run<false>(out, again, flag);
}

extern "C" __global__ void fixed(unsigned* out, unsigned* again, unsigned* flag) {
    run<true>(out, again, flag);
}
