// Two loads share a phase that expects the bytes of one.
// launch: grid=1 block=32
// arg: in:u32[64]=iota
// arg: buf:u32[32]
// expect: 1[3] = 38
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[64];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) {
        arrive_expect(&full, is_fixed ? 256 : 128);
        load_bulk(tile, in, 128, &full);
        load_bulk(tile + 32, in + 32, 128, &full); // OTHER
    }
    wait(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x + 32]; // FAULT: missing_wait
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
