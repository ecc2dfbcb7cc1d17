// The last tile is as large as the others and ends beyond the input.
// launch: grid=2 block=32
// arg: in:u32[48]=iota
// arg: buf:u32[48]
// expect: 1[40] = 40
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    begin(&full);
    const unsigned first = 32 * blockIdx.x;
    const unsigned count = is_fixed ? min(48 - first, 32u) : 32;
    if (threadIdx.x == 0) {
        arrive_expect(&full, 4 * count);
        load_bulk(tile, in + first, 4 * count, &full); // FAULT: out_of_bounds
    }
    wait(&full, 0);
    if (first + threadIdx.x < 48) out[first + threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
