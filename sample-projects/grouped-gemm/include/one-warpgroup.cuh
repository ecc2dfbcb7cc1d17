// A product by one warpgroup without warps of its own for copies, from which the kernels under `wrong/` are put together:
// 64 x 64 elements of c for a block, one stage.
#pragma once

#include "hopper.cuh"

namespace one_warpgroup {

using namespace hopper;

constexpr int side = 64;
constexpr int elements = side * side;

struct Shared {
    bf16 a[elements];
    bf16 b[elements];
    bf16 c[elements];
    Barrier full;
};

/// The structure at the first place of dynamic shared memory where the pattern of the swizzle begins.
__device__ __forceinline__ Shared& place() {
    extern __shared__ unsigned char bytes[];
    return *reinterpret_cast<Shared*>((reinterpret_cast<size_t>(bytes) + 1023) / 1024 * 1024);
}

/// Computes 64 rows of c from `first_row` on with columns of the b of a group, into shared memory.
__device__ __forceinline__ void multiply_tile(Shared& shared, const CUtensorMap& a_map, const CUtensorMap& b_map,
                                              int first_row, int first_row_of_b, int k) {
    if (threadIdx.x == 0) {
        init(&shared.full, 1);
        fence_init();
    }
    __syncthreads();
    float sums[side / 2] = {};
    const int steps = (k + side - 1) / side;
    for (int step = 0; step < steps; ++step) {
        if (threadIdx.x == 0) {
            arrive_expect(&shared.full, 2 * elements * sizeof(bf16));
            load(shared.a, a_map, step * side, first_row, &shared.full);
            load(shared.b, b_map, step * side, first_row_of_b, &shared.full);
        }
        wait(&shared.full, step % 2);
        fence_products();
#pragma unroll
        for (int part = 0; part < side / 16; ++part) {
            multiply(sums, descriptor(shared.a) + part * 2, descriptor(shared.b) + part * 2);
        }
        commit_products();
        wait_products<0>();
        __syncthreads();
    }
    const int row = threadIdx.x / 32 * 16 + threadIdx.x % 16;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        const float* const d = &sums[pair * 8];
        const int chunk = (pair * 2 + threadIdx.x % 32 / 16) ^ row % 8;
        store_matrices(shared.c + row * side + chunk * 8, pack(d[0], d[1]), pack(d[2], d[3]), pack(d[4], d[5]),
                       pack(d[6], d[7]));
    }
    fence_async();
    __syncthreads();
}

/// Stores the first rows of the tile in shared memory.
__device__ __forceinline__ void store_rows(Shared& shared, bf16* c, int first_row, int rows, int first_column, int n) {
    const int chunk = threadIdx.x % 8;
    const int column = first_column + chunk * 8;
    if (column < n) {
        for (int row = threadIdx.x / 8; row < min(rows, side); row += 16) {
            *reinterpret_cast<uint4*>(c + static_cast<long long>(first_row + row) * n + column) =
                *reinterpret_cast<const uint4*>(shared.c + row * side + (chunk ^ row % 8) * 8);
        }
    }
}

}  // namespace one_warpgroup
