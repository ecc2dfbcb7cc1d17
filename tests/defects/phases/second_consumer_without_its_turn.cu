// Two consumers take turns with one buffer; the second one waits for the second phase without having seen the first.
// launch: grid=1 block=96
// arg: in:u32[64]=iota
// arg: buf:u32[64]
// expect: 1[40] = 40
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    __shared__ Barrier empty;
    __shared__ Barrier turn;
    begin(&full);
    begin(&empty);
    begin(&turn);
    const unsigned warp = threadIdx.x / 32;
    if (warp == 2) {
        if (threadIdx.x == 64) {
            arrive_expect(&full, 128);
            load_bulk(tile, in, 128, &full);
            wait(&empty, 0);
            arrive_expect(&full, 128);
            load_bulk(tile, in + 32, 128, &full); // OTHER
        }
        return;
    }
    if (warp == 1 && is_fixed) wait(&turn, 0);
    wait(&full, warp); // FAULT: barrier_phase
    out[threadIdx.x] = tile[threadIdx.x % 32]; // FAULT: missing_wait
    __syncwarp();
    if (threadIdx.x == 0) {
        arrive(&empty);
        arrive(&turn);
    }
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
