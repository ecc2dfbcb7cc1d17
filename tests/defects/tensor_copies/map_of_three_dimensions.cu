// The map has a dimension for batches, and the instruction gives two coordinates.
// launch: grid=1 block=32
// arg: in:u32[1024]=iota
// arg: map:0 dims=32,16 box=32,8
// arg: map:0 dims=32,16,2 box=32,8,1
// arg: buf:u32[32]
// expect: 3[3] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const CUtensorMap& map, unsigned* out) {
    __shared__ alignas(128) unsigned tile[8][32];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) {
        arrive_expect(&full, sizeof(tile));
        load_box(tile, map, 0, 0, &full); // FAULT: tensor_map
    }
    wait(&full, 0);
    out[threadIdx.x] = tile[0][threadIdx.x];
}

extern "C" __global__ void defect(const unsigned* in, const __grid_constant__ CUtensorMap flat, const __grid_constant__ CUtensorMap batched, unsigned* out) {
    run<false>(batched, out);
}

extern "C" __global__ void fixed(const unsigned* in, const __grid_constant__ CUtensorMap flat, const __grid_constant__ CUtensorMap batched, unsigned* out) {
    run<true>(flat, out);
}
