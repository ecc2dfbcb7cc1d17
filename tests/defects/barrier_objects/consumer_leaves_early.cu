// One consumer warp leaves its loop a round early and never releases the last stage.
// launch: grid=1 block=96
// arg: in:u32[128]=iota
// arg: buf:u32[64]
// expect: 1[3] = 204
// expect: 1[35] = 204
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full, empty;
    if (threadIdx.x == 0) init(&empty, 64);
    begin(&full);
    if (threadIdx.x >= 64) {
        for (unsigned round = 0; round < 4; ++round) {
            if (round > 0) wait(&empty, (round - 1) % 2); // FAULT: livelock
            if (threadIdx.x == 64) {
                arrive_expect(&full, 128);
                load_bulk(tile, in + 32 * round, 128, &full);
            }
            __syncwarp();
        }
        return;
    }
    unsigned sum = 0;
    const unsigned rounds = is_fixed || threadIdx.x < 32 ? 4 : 2;
    for (unsigned round = 0; round < rounds; ++round) {
        wait(&full, round % 2); // FAULT: livelock
        sum += tile[threadIdx.x % 32];
        fence_async();
        arrive(&empty);
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
