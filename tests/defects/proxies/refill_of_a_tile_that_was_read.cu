// A bulk load fills a tile again that threads have read, with a barrier and no proxy fence between.
// launch: grid=1 block=32 strict
// arg: in:u32[64]=iota
// arg: buf:u32[32]
// expect: 1[3] = 38
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    begin(&full);
    unsigned sum = 0;
    for (unsigned round = 0; round < 2; ++round) {
        if (threadIdx.x == 0) {
            arrive_expect(&full, 128);
            load_bulk(tile, in + 32 * round, 128, &full); // FAULT: data_race
        }
        wait(&full, round % 2);
        sum += tile[threadIdx.x]; // OTHER
        if (is_fixed) fence_async();
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
