// The tile of a stencil is stored with its halo, at the coordinates from which it was loaded: the first is negative.
// launch: grid=1 block=32
// arg: in:u32[512]=iota
// arg: map:0 dims=32,16 box=32,8
// arg: buf:u32[512]=0
// arg: map:2 dims=32,16 box=32,8
// expect: 2[3] = 4
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const CUtensorMap& from, const CUtensorMap& to) {
    __shared__ alignas(128) unsigned tile[8][32];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) {
        arrive_expect(&full, sizeof(tile));
        load_box(tile, from, 0, is_fixed ? 0 : -1, &full);
    }
    wait(&full, 0);
    for (unsigned row = 0; row < 8; ++row) tile[row][threadIdx.x] += 1;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_box(to, tile, 0, is_fixed ? 0 : -1); // FAULT: out_of_bounds
        commit_stores();
        wait_stores<0>();
    }
}

extern "C" __global__ void defect(const unsigned* in, const __grid_constant__ CUtensorMap from, unsigned* out, const __grid_constant__ CUtensorMap to) {
    run<false>(from, to);
}

extern "C" __global__ void fixed(const unsigned* in, const __grid_constant__ CUtensorMap from, unsigned* out, const __grid_constant__ CUtensorMap to) {
    run<true>(from, to);
}
