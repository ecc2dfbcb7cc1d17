// The map was encoded for boxes of 16 rows and the tile has room for 8.
// launch: grid=1 block=32
// arg: in:u32[512]=iota
// arg: map:0 dims=32,16 box=32,16
// arg: buf:u32[32]
// expect: 2[3] = 227
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const CUtensorMap& map, unsigned* out) {
    constexpr unsigned rows = is_fixed ? 16 : 8;
    __shared__ alignas(128) unsigned tile[rows][32];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) {
        arrive_expect(&full, sizeof(tile));
        load_box(tile, map, 0, 0, &full); // FAULT: out_of_bounds
    }
    wait(&full, 0);
    out[threadIdx.x] = tile[7][threadIdx.x];
}

extern "C" __global__ void defect(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out) {
    run<false>(map, out);
}

extern "C" __global__ void fixed(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out) {
    run<true>(map, out);
}
