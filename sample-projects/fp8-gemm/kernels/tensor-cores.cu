/*@ lightbench(
    title: "Tensor cores of a warp, fed by cp.async",
    steps: [
        launch(kernel: "fp8_gemm", grid: ["ceil_div(n, 128)", "ceil_div(m, 128)"], block: [256],
               shared: "4 * 2 * 128 * 64"),
    ],
) @*/

// Against `naive`: a warp multiplies 16 x 32 by 32 x 8 elements in one instruction of PTX, and each element of a tile is
// read once for 128 rows or columns. For compute capability 9.0 the assembler unpacks both operands and makes two products
// of f16 of it: `mma.sync` is no faster here than with f16. Sums of 128 products are added in f32, each with its scales.

#include <cuda_bf16.h>
#include <cuda_fp8.h>

using fp8 = __nv_fp8_e4m3;

constexpr int tile = 128;
constexpr int depth = 64;
constexpr int stages = 4;

/// The place of a piece of 16 elements in a tile: the pieces of a row are permuted, so that the 8 rows that `ldmatrix`
/// reads together are in different banks.
__device__ __forceinline__ int place(int row, int piece) {
    return row * depth + (piece ^ row / 2 % 4) * 16;
}

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Copies 128 rows of four pieces; what does not exist becomes zero.
__device__ __forceinline__ void copy_tile(fp8* to, const fp8* from, int first_row, int rows, int first, int k) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
        const int row = threadIdx.x / 4 + part * 64;
        const int piece = threadIdx.x % 4;
        const bool exists = first_row + row < rows && first + piece * 16 < k;
        const fp8* source = exists ? from + static_cast<long long>(first_row + row) * k + first + piece * 16 : from;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to + place(row, piece))),
                     "l"(source), "r"(exists ? 16 : 0)
                     : "memory");
    }
}

/// Loads four matrices of 8 rows of 16 bytes; lane i names row i of the four.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], const fp8* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(256)
fp8_gemm(const fp8* __restrict__ a, const float* __restrict__ a_scale, const fp8* __restrict__ b,
         const float* __restrict__ b_scale, __nv_bfloat16* __restrict__ c, int m, int n, int k) {
    extern __shared__ __align__(128) fp8 shared[];
    fp8* const a_tiles = shared;
    fp8* const b_tiles = shared + stages * tile * depth;
    const int first_row = blockIdx.y * tile;
    const int first_column = blockIdx.x * tile;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int warp_row = warp / 4 * 64;  // 2 x 4 warps of 64 x 32 elements
    const int warp_column = warp % 4 * 32;
    const int steps = (k + depth - 1) / depth;
    const int blocks = (k + 127) / 128;
    const long long scales_of_block = (m + 3) / 4 * 4;

    const auto copy = [&](int step) {
        if (step < steps) {
            copy_tile(a_tiles + step % stages * tile * depth, a, first_row, m, step * depth, k);
            copy_tile(b_tiles + step % stages * tile * depth, b, first_column, n, step * depth, k);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    float totals[4][4][4] = {};
    float sums[4][4][4] = {};
    for (int step = 0; step < stages - 1; ++step) {
        copy(step);
    }
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(stages - 2) : "memory");
        // The tile of this step has arrived for all threads, and nobody reads the one that the next copy replaces.
        __syncthreads();
        copy(step + stages - 1);
        const fp8* const a_tile = a_tiles + step % stages * tile * depth;
        const fp8* const b_tile = b_tiles + step % stages * tile * depth;
        // Not unrolled: the unpacked operands of two parts do not fit into the registers.
#pragma unroll 1
        for (int part = 0; part < depth / 32; ++part) {
            unsigned left[4][4];
            unsigned right[2][4];
#pragma unroll
            for (int index = 0; index < 4; ++index) {
                load_matrices(left[index], a_tile + place(warp_row + index * 16 + lane % 16, part * 2 + lane / 16));
            }
#pragma unroll
            for (int index = 0; index < 2; ++index) {
                load_matrices(right[index], b_tile + place(warp_column + index * 16 + lane % 16, part * 2 + lane / 16));
            }
#pragma unroll
            for (int index = 0; index < 16; ++index) {
                const int column = index % 4;
                multiply(sums[index / 4][column], left[index / 4], right[column / 2][column % 2],
                         right[column / 2][column % 2 + 2]);
            }
        }
        // Two steps are one block of 128 elements.
        if (step % 2 == 1 || step + 1 == steps) {
            const int block = step / 2;
            const float of_b = b_scale[static_cast<long long>(blockIdx.x) * blocks + block];
#pragma unroll
            for (int half = 0; half < 8; ++half) {
                const int row = min(first_row + warp_row + half * 8 + lane / 4, m - 1);
                const float scale = a_scale[block * scales_of_block + row] * of_b;
#pragma unroll
                for (int index = 0; index < 8; ++index) {
                    float& sum = sums[half / 2][index / 2][half % 2 * 2 + index % 2];
                    totals[half / 2][index / 2][half % 2 * 2 + index % 2] += scale * sum;
                    sum = 0.0f;
                }
            }
        }
    }

#pragma unroll
    for (int index = 0; index < 32; ++index) {
        const float* const total = totals[index / 8][index / 2 % 4];
        const int row = first_row + warp_row + index / 8 * 16 + index % 2 * 8 + lane / 4;
        const int column = first_column + warp_column + index / 2 % 4 * 8 + lane % 4 * 2;
        // n is even: the second column exists if the first does.
        if (row < m && column < n) {
            *reinterpret_cast<__nv_bfloat162*>(c + static_cast<long long>(row) * n + column) =
                __floats2bfloat162_rn(total[index % 2 * 2], total[index % 2 * 2 + 1]);
        }
    }
}
