// The phase counts the arrival of the producer; a second warp arrives too.
// launch: grid=1 block=96
// arg: in:u32[32]=iota
// arg: buf:u32[32]
// expect: 1[3] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    begin(&full, is_fixed ? 2 : 1);
    if (threadIdx.x == 64) {
        arrive(&full); // FAULT: barrier_divergence
    } else if (threadIdx.x == 32) {
        load_bulk(tile, in, 128, &full); // OTHER
        arrive_expect(&full, 128); // FAULT: barrier_divergence
    } else if (threadIdx.x < 32) {
        wait(&full, 0);
        out[threadIdx.x] = tile[threadIdx.x]; // FAULT: missing_wait
    }
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
