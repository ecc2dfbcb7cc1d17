// The epilogue reuses a stage of the pipeline as its output tile, while the last box is still on its way there.
// launch: grid=1 block=32
// arg: in:u32[512]=iota
// arg: map:0 dims=32,16 box=32,8
// arg: buf:u32[32]
// expect: 2[3] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const CUtensorMap& map, unsigned* out) {
    __shared__ alignas(128) unsigned tiles[2][8][32];
    __shared__ Barrier full[2];
    if (threadIdx.x == 0) init(&full[1], 1);
    begin(&full[0]);
    // The prologue fills both stages, although there is one step only.
    const int filled = is_fixed ? 1 : 2;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < filled; ++stage) {
            arrive_expect(&full[stage], 1024);
            load_box(tiles[stage], map, 0, 8 * stage, &full[stage]); // OTHER
        }
    }
    wait(&full[0], 0);
    tiles[1][0][threadIdx.x] = tiles[0][0][threadIdx.x]; // FAULT: missing_wait
    fence_async();
    __syncwarp();
    if (threadIdx.x == 0) {
        store_bulk(out, tiles[1], 128);
        commit_stores();
        wait_stores<0>();
    }
}

extern "C" __global__ void defect(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out) {
    run<false>(map, out);
}

extern "C" __global__ void fixed(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out) {
    run<true>(map, out);
}
