// Two warps each elect a lane that expects the bytes of the phase, which counts one arrival.
// launch: grid=1 block=64
// arg: in:u32[64]=iota
// arg: buf:u32[64]
// expect: 1[40] = 40
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[64];
    __shared__ Barrier full;
    begin(&full);
    if ((!is_fixed || threadIdx.x < 32) && elected()) {
        arrive_expect(&full, 256);
        load_bulk(tile, in, 256, &full); // OTHER
    }
    wait(&full, 0);
    out[threadIdx.x] = tile[threadIdx.x]; // FAULT: missing_wait
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
