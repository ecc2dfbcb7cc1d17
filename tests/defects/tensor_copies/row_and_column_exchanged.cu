// The row is given as the first coordinate, which is that of the innermost dimension.
// launch: grid=2 block=32
// arg: in:u32[512]=iota
// arg: map:0 dims=32,16 box=32,1
// arg: buf:u32[64]
// expect: 2[35] = 35
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const CUtensorMap& map, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) {
        arrive_expect(&full, sizeof(tile));
        if (is_fixed) load_box(tile, map, 0, blockIdx.x, &full);
        else load_box(tile, map, blockIdx.x, 0, &full); // FAULT: misaligned
    }
    wait(&full, 0);
    out[32 * blockIdx.x + threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void defect(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out) {
    run<false>(map, out);
}

extern "C" __global__ void fixed(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out) {
    run<true>(map, out);
}
