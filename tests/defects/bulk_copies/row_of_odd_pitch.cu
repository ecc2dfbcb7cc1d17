// Rows of 33 floats are copied from their first element, which is rarely at a multiple of 16 bytes.
// launch: grid=2 block=32
// arg: in:u32[80]=iota
// arg: buf:u32[64]
// expect: 1[3] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    begin(&full);
    const unsigned pitch = is_fixed ? 36 : 33;
    if (threadIdx.x == 0) {
        arrive_expect(&full, 128);
        load_bulk(tile, in + pitch * blockIdx.x, 128, &full); // FAULT: misaligned
    }
    wait(&full, 0);
    out[32 * blockIdx.x + threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
