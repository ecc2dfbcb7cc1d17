// One warp releases the buffer for two; the other one may not have seen the phase that it waits for.
// launch: grid=1 block=96
// arg: in:u32[128]=iota
// arg: buf:u32[2]
// expect: 1[0] = 96
// expect: 1[1] = 4
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    __shared__ Barrier empty;
    begin(&full);
    begin(&empty, is_fixed ? 2 : 1);
    if (threadIdx.x >= 64) {
        for (unsigned round = 0; round < 4 && threadIdx.x == 64; ++round) {
            if (round > 0) wait(&empty, round - 1 & 1);
            arrive_expect(&full, 128);
            load_bulk(tile, in + 32 * round, 128, &full);
        }
        return;
    }
    unsigned first = 0;
    unsigned rounds = 0;
    for (unsigned round = 0; round < 4; ++round) {
        wait(&full, round & 1); // FAULT: barrier_phase
        if (threadIdx.x < 32) first = tile[0];
        ++rounds;
        __syncwarp();
        if (threadIdx.x == 0 || is_fixed && threadIdx.x == 32) arrive(&empty);
    }
    if (threadIdx.x == 0) out[0] = first;
    if (threadIdx.x == 32) out[1] = rounds;
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
