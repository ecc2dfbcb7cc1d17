// A product without persistent blocks or warps with roles, from which the kernels under `wrong/` are put together: one
// warpgroup for 64 x 128 elements of c.
#pragma once

#include "block.cuh"

namespace one_block {

using namespace hopper;

constexpr int rows = 64;
constexpr int stages = 3;
constexpr unsigned bytes_of_stage = (rows + tile) * depth + rows * sizeof(float);

struct Shared {
    fp8 a[stages][rows * depth];
    fp8 b[stages][tile * depth];
    bf16 c[2][box];
    float a_scale[stages][rows];
    Barrier full[stages];
};

/// The structure at the first place of dynamic shared memory where the pattern of the swizzle begins.
__device__ __forceinline__ Shared& place() {
    extern __shared__ unsigned char bytes[];
    return *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);
}

__device__ __forceinline__ void begin(Shared& shared) {
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < stages; ++stage) {
            init(&shared.full[stage], 1);
        }
        fence_init();
    }
    __syncthreads();
}

/// Orders the tiles and the scales of a step; one thread calls it.
__device__ __forceinline__ void copy(Shared& shared, const CUtensorMap& a_map, const CUtensorMap& a_scale_map,
                                     const CUtensorMap& b_map, int step, unsigned bytes = bytes_of_stage) {
    const int stage = step % stages;
    arrive_expect(&shared.full[stage], bytes);
    load(shared.a[stage], a_map, step * depth, blockIdx.x * rows, &shared.full[stage]);
    load(shared.b[stage], b_map, step * depth, blockIdx.y * tile, &shared.full[stage]);
    load(shared.a_scale[stage], a_scale_map, blockIdx.x * rows, step, &shared.full[stage]);
}

/// Writes the totals to c.
__device__ __forceinline__ void finish(Shared& shared, const CUtensorMap& c_map, const float (&totals)[64]) {
    for (int part = 0; part < tile / 64; ++part) {
        write_box(shared.c[part], totals + part * 32);
    }
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int part = 0; part < tile / 64; ++part) {
            store(c_map, shared.c[part], blockIdx.y * tile + part * 64, blockIdx.x * rows);
        }
        commit_stores();
        wait_stores_read<0>();
    }
}

}  // namespace one_block
