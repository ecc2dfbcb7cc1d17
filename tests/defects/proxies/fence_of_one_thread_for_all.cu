// One thread executes the proxy fence before the barrier, which covers its own writes and not those of the others.
// launch: grid=1 block=32
// arg: buf:u32[32]
// expect: 0[31] = 31
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    const unsigned thread = threadIdx.x;
    tile[thread] = thread; // OTHER
    if (!is_fixed && thread == 0) fence_async();
    __syncthreads();
    if (thread == 0) {
        // After the barrier the fence of one thread covers the writes of all, as in code of Triton.
        if (is_fixed) fence_async();
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
