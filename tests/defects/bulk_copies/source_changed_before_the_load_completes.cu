// A thread issues a bulk load and writes to its source before the load is complete.
// launch: grid=1 block=32
// arg: buf:u32[32]=7
// arg: buf:u32[32]
// expect: 1[0] = 7
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) {
        arrive_expect(&full, 128);
        load_bulk(tile, in, 128, &full); // OTHER
        if (!is_fixed) in[0] = 1; // FAULT: data_race
    }
    wait(&full, 0);
    if (is_fixed && threadIdx.x == 0) in[0] = 1;
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void defect(unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(unsigned* in, unsigned* out) {
    run<true>(in, out);
}
