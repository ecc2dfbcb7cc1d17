// A block adds its tile with a bulk reduction, and another block adds to the same elements without atomics.
// launch: grid=2 block=32
// arg: buf:u32[32]=5
// expect: 0[4] = 10
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    tile[threadIdx.x] = threadIdx.x;
    fence_async();
    __syncthreads();
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            add_bulk(out, tile, 128); // FAULT: data_race
            commit_stores();
            wait_stores<0>();
        }
    } else if (is_fixed) {
        atomicAdd(&out[threadIdx.x], 1u);
    } else {
        out[threadIdx.x] += 1; // FAULT: data_race
    }
}

extern "C" __global__ void defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(unsigned* out) {
    run<true>(out);
}
