// The prologue loads one tile more than the block uses, and the block exits while that load may still write.
// launch: grid=1 block=32
// arg: in:u32[64]=iota
// arg: buf:u32[32]
// expect: 1[3] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tiles[2][32];
    __shared__ Barrier full[2];
    if (threadIdx.x == 0) init(&full[1], 1);
    begin(&full[0]);
    if (threadIdx.x == 0) {
        for (unsigned stage = 0; stage < 2; ++stage) {
            arrive_expect(&full[stage], 128);
            load_bulk(tiles[stage], in + 32 * stage, 128, &full[stage]); // FAULT: missing_wait
        }
    }
    wait(&full[0], 0);
    out[threadIdx.x] = tiles[0][threadIdx.x];
    if (is_fixed) wait(&full[1], 0);
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
