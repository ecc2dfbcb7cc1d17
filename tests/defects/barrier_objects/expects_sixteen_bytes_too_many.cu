// The phase expects 16 bytes more than its load brings.
// launch: grid=1 block=32
// arg: in:u32[32]=iota
// arg: buf:u32[32]
// expect: 1[3] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) {
        arrive_expect(&full, is_fixed ? 128 : 144);
        load_bulk(tile, in, 128, &full);
    }
    wait(&full, 0); // FAULT: livelock
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
