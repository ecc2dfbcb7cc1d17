/*@ lightbench(
    title: "Tensor cores of a warp, fed by cp.async",
    steps: [
        launch(kernel: "hgemm", grid: ["ceil_div(n, 128)", "ceil_div(m, 128)"], block: [256], shared: "3 * 2 * 128 * 32 * 2"),
    ],
) @*/

// Against `shared-tiles`: a warp multiplies 16 x 16 by 16 x 8 in one instruction, which takes bf16 as it is. Copies go
// from global to shared memory past the registers, two steps ahead. Rows of 64 bytes would put the 8 rows that
// `ldmatrix` reads together into the same banks, so that the 16-byte pieces of a row are permuted.

#include <cuda_bf16.h>

using bf16 = __nv_bfloat16;

constexpr int tile = 128;
constexpr int depth = 32;
constexpr int stages = 3;

/// The place of a piece of 8 elements in a tile.
__device__ __forceinline__ int place(int row, int piece) {
    return row * depth + (piece ^ row / 2 % 4) * 8;
}

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

/// Copies 128 rows of four pieces; what does not exist becomes zero.
__device__ __forceinline__ void copy_tile(bf16* to, const bf16* from, int first_row, int rows, int first, int k) {
#pragma unroll
    for (int part = 0; part < 2; ++part) {
        const int row = threadIdx.x / 4 + part * 64;
        const int piece = threadIdx.x % 4;
        const bool exists = first_row + row < rows && first + piece * 8 < k;
        const bf16* source = exists ? from + static_cast<long long>(first_row + row) * k + first + piece * 8 : from;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to + place(row, piece))),
                     "l"(source), "r"(exists ? 16 : 0)
                     : "memory");
    }
}

/// Loads four 8 x 8 matrices; lane i names row i of the four.
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], const bf16* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__global__ void __launch_bounds__(256)
hgemm(const bf16* __restrict__ a, const bf16* __restrict__ b, bf16* __restrict__ c, int m, int n, int k) {
    extern __shared__ __align__(128) bf16 shared[];
    bf16* const a_tiles = shared;
    bf16* const b_tiles = shared + stages * tile * depth;
    const int first_row = blockIdx.y * tile;
    const int first_column = blockIdx.x * tile;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int warp_row = warp / 4 * 64;     // 2 x 4 warps of 64 x 32 elements
    const int warp_column = warp % 4 * 32;
    const int steps = (k + depth - 1) / depth;

    const auto copy = [&](int step) {
        if (step < steps) {
            copy_tile(a_tiles + step % stages * tile * depth, a, first_row, m, step * depth, k);
            copy_tile(b_tiles + step % stages * tile * depth, b, first_column, n, step * depth, k);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    float sums[4][4][4] = {};
    copy(0);
    copy(1);
    for (int step = 0; step < steps; ++step) {
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        // The tile of this step has arrived for all threads, and nobody reads the one that the next copy replaces.
        __syncthreads();
        copy(step + 2);
        const bf16* const a_tile = a_tiles + step % stages * tile * depth;
        const bf16* const b_tile = b_tiles + step % stages * tile * depth;
#pragma unroll
        for (int part = 0; part < depth / 16; ++part) {
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
    }

#pragma unroll
    for (int index = 0; index < 32; ++index) {
        const float* const sum = sums[index / 8][index / 2 % 4];
        const int row = first_row + warp_row + index / 8 * 16 + index % 2 * 8 + lane / 4;
        const int column = first_column + warp_column + index / 2 % 4 * 8 + lane % 4 * 2;
        // n is even: the second column exists if the first does.
        if (row < m && column < n) {
            *reinterpret_cast<__nv_bfloat162*>(c + static_cast<long long>(row) * n + column) =
                __floats2bfloat162_rn(sum[index % 2 * 2], sum[index % 2 * 2 + 1]);
        }
    }
}
