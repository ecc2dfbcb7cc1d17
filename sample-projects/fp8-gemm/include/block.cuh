// What the kernels for compute capability 9.0 share: tiles of 128 x 128 elements of c, multiplied in blocks of 128 along
// k, which are the blocks of the scales.
#pragma once

#include "hopper.cuh"

constexpr int tile = 128;
constexpr int depth = 128;        // bytes, the span of the swizzle
constexpr int box = 64 * 64;      // elements of a box of c
constexpr unsigned stage_bytes = 2 * tile * depth + tile * sizeof(float);

/// The operands of a block of products.
struct Operands {
    hopper::fp8 a[tile * depth];
    hopper::fp8 b[tile * depth];
};

/// Issues the products of a block for 64 rows of a and 128 columns of b.
__device__ __forceinline__ void multiply_block(float (&sums)[64], const hopper::fp8* a, const hopper::fp8* b) {
    const unsigned long long left = hopper::descriptor(a);
    const unsigned long long right = hopper::descriptor(b);
    hopper::fence_products();
#pragma unroll
    for (int part = 0; part < depth / 32; ++part) {
        hopper::multiply(sums, left + part * 2, right + part * 2, part > 0);
    }
    hopper::commit_products();
}

/// Adds the sums of a block, with their scales, to the totals. PTX ISA, "Register Fragments for
/// wgmma.mma_async.m64nNk32": four sums for each 8 columns, two of a row and two of the row 8 below.
__device__ __forceinline__ void promote(float (&totals)[64], const float (&sums)[64], float upper, float lower) {
#pragma unroll
    for (int index = 0; index < 64; ++index) {
        totals[index] += (index / 2 % 2 == 0 ? upper : lower) * sums[index];
    }
}

/// The row, among the 64 of its warpgroup, of a thread's upper sums.
__device__ __forceinline__ int upper_row() {
    return threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
}

/// Writes 64 columns of the totals to shared memory, as the tensor map of c wants them.
__device__ __forceinline__ void write_box(hopper::bf16* out, const float* totals) {
    const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 16;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        const float* const d = totals + pair * 8;
        const int chunk = (pair * 2 + threadIdx.x % 32 / 16) ^ row % 8;
        hopper::store_matrices(out + row * 64 + chunk * 8, hopper::pack(d[0], d[1]), hopper::pack(d[2], d[3]),
                               hopper::pack(d[4], d[5]), hopper::pack(d[6], d[7]));
    }
}
