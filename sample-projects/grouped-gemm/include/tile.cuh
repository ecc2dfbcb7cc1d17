// What the kernels for compute capability 9.0 share: tiles of 128 x 256 elements of c, 64 rows for each of two
// warpgroups, and their way out.
#pragma once

#include "hopper.cuh"

constexpr int tile_m = 128;
constexpr int tile_n = 256;
constexpr int tile_k = 64;    // 128 bytes, the span of the swizzle
constexpr int box = 64 * 64;  // elements of a box of c

/// The operands of a step along k.
struct Operands {
    hopper::bf16 a[tile_m * tile_k];
    hopper::bf16 b[tile_n * tile_k];
};

/// A tile of c: rows of a group, and columns.
struct Tile {
    int group;
    int first_row;
    int rows;  // of the group, from the first row on
    int first_column;
};

/// Orders the operands of a step; one thread calls it.
__device__ __forceinline__ void copy(Operands& operands, const CUtensorMap& a_map, const CUtensorMap& b_map,
                                     const Tile& tile, int n, int step, hopper::Barrier* full) {
    hopper::arrive_expect(full, sizeof(Operands));
    // Rows beyond the end of the group belong to the next one; their sums are not stored.
    hopper::load(operands.a, a_map, step * tile_k, tile.first_row, full);
    hopper::load(operands.b, b_map, step * tile_k, tile.group * n + tile.first_column, full);
}

/// Issues the products of a step for 64 rows.
__device__ __forceinline__ void multiply_step(float (&sums)[tile_n / 2], const Operands& operands, int consumer) {
    hopper::fence_products();
    const unsigned long long a = hopper::descriptor(operands.a + consumer * 64 * tile_k);
    const unsigned long long b = hopper::descriptor(operands.b);
#pragma unroll
    for (int part = 0; part < tile_k / 16; ++part) {
        hopper::multiply(sums, a + part * 2, b + part * 2);
    }
    hopper::commit_products();
}

/// Writes 64 columns of the sums of a warpgroup to shared memory, as the tensor map of c wants them.
__device__ __forceinline__ void write_box(hopper::bf16* out, const float* sums) {
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 16;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        const float* const d = sums + pair * 8;
        const int chunk = (pair * 2 + threadIdx.x % 32 / 16) ^ row % 8;
        hopper::store_matrices(out + row * 64 + chunk * 8, hopper::pack(d[0], d[1]), hopper::pack(d[2], d[3]),
                               hopper::pack(d[4], d[5]), hopper::pack(d[6], d[7]));
    }
}

/// Stores the first rows of a box with ordinary stores, by a warpgroup: the copy engine knows the end of c, but not the
/// end of a group, behind which another block writes.
__device__ __forceinline__ void store_rows(hopper::bf16* c, const hopper::bf16* out, int first_row, int rows,
                                           int first_column, int n) {
    const int chunk = threadIdx.x % 8;
    const int column = first_column + chunk * 8;
    if (column < n) {
        for (int row = threadIdx.x % 128 / 8; row < rows; row += 16) {
            *reinterpret_cast<uint4*>(c + static_cast<long long>(first_row + row) * n + column) =
                *reinterpret_cast<const uint4*>(out + row * 64 + (chunk ^ row % 8) * 8);
        }
    }
}
