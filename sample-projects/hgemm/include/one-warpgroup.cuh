// The parts of a product by one warpgroup, from which the kernels under `wrong/` are put together: 64 x 64 elements of c
// for a block, 64 deep steps.
#pragma once

#include "hopper.cuh"

namespace one_warpgroup {

using namespace hopper;

constexpr int tile = 64;
constexpr int elements = tile * tile;
constexpr int stages = 3;
constexpr unsigned stage_bytes = 2 * elements * sizeof(bf16);

struct Shared {
    bf16 a[stages][elements];
    bf16 b[stages][elements];
    bf16 c[elements];
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

/// Orders the tiles of a step; one thread calls it.
__device__ __forceinline__ void copy(Shared& shared, const CUtensorMap& a_map, const CUtensorMap& b_map, int step,
                                     unsigned bytes = stage_bytes) {
    const int stage = step % stages;
    arrive_expect(&shared.full[stage], bytes);
    load(shared.a[stage], a_map, step * tile, blockIdx.x * tile, &shared.full[stage]);
    load(shared.b[stage], b_map, step * tile, blockIdx.y * tile, &shared.full[stage]);
}

/// Issues the products of a step.
__device__ __forceinline__ void multiply_step(Shared& shared, float (&sums)[tile / 2], int step) {
    const unsigned long long a = descriptor(shared.a[step % stages]);
    const unsigned long long b = descriptor(shared.b[step % stages]);
#pragma unroll
    for (int part = 0; part < tile / 16; ++part) {
        multiply(sums, a + part * 2, b + part * 2);
    }
    commit_products();
}

/// Writes the sums to shared memory, as the tensor map of c wants them.
__device__ __forceinline__ void write_tile(Shared& shared, const float (&sums)[tile / 2]) {
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 16;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        const float* const d = &sums[pair * 8];
        const int chunk = (pair * 2 + threadIdx.x % 32 / 16) ^ row % 8;
        store_matrices(shared.c + row * tile + chunk * 8, pack(d[0], d[1]), pack(d[2], d[3]), pack(d[4], d[5]),
                       pack(d[6], d[7]));
    }
}

/// Orders the copy of the tile to c; one thread calls it.
__device__ __forceinline__ void store_tile(Shared& shared, const CUtensorMap& c_map) {
    store(c_map, shared.c, blockIdx.y * tile, blockIdx.x * tile);
    commit_stores();
}

}  // namespace one_warpgroup
