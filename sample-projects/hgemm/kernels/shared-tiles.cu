/*@ lightbench(
    title: "Tiles in shared memory, 4 x 4 elements a thread",
    steps: [
        launch(kernel: "hgemm", grid: ["ceil_div(n, 64)", "ceil_div(m, 64)"], block: [256]),
    ],
) @*/

// Against `naive`: a block loads 64 rows of a and of b once, in 16-byte pieces, and each element is used 64 times. A
// thread with 4 x 4 elements of c reads 8 numbers for 16 multiply-adds. The limit is now the rate of f32 arithmetic.

#include <cuda_bf16.h>

constexpr int tile = 64;
constexpr int depth = 32;
constexpr int pitch = tile + 4;  // floats: rows of the transposed tile begin in different banks

__device__ __forceinline__ void load_tile(float (&to)[depth][pitch], const __nv_bfloat16* from, int first_row, int rows,
                                          int first, int k) {
    // 64 rows of four 8-element pieces; rows and pieces that do not exist count as zero.
    const int row = threadIdx.x / 4;
    const int piece = threadIdx.x % 4 * 8;
    uint4 eight = make_uint4(0, 0, 0, 0);
    if (first_row + row < rows && first + piece < k) {
        eight = *reinterpret_cast<const uint4*>(from + static_cast<long long>(first_row + row) * k + first + piece);
    }
    const __nv_bfloat162* pairs = reinterpret_cast<const __nv_bfloat162*>(&eight);
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        const float2 two = __bfloat1622float2(pairs[pair]);
        to[piece + 2 * pair][row] = two.x;
        to[piece + 2 * pair + 1][row] = two.y;
    }
}

__global__ void __launch_bounds__(256)
hgemm(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, __nv_bfloat16* __restrict__ c, int m,
      int n, int k) {
    __shared__ __align__(16) float a_tile[depth][pitch];
    __shared__ __align__(16) float b_tile[depth][pitch];
    const int first_row = blockIdx.y * tile;
    const int first_column = blockIdx.x * tile;
    const int row = threadIdx.x / 16 * 4;
    const int column = threadIdx.x % 16 * 4;
    float sums[4][4] = {};
    for (int first = 0; first < k; first += depth) {
        load_tile(a_tile, a, first_row, m, first, k);
        load_tile(b_tile, b, first_column, n, first, k);
        __syncthreads();
#pragma unroll
        for (int index = 0; index < depth; ++index) {
            const float4 left = *reinterpret_cast<const float4*>(&a_tile[index][row]);
            const float4 right = *reinterpret_cast<const float4*>(&b_tile[index][column]);
            const float lefts[4] = {left.x, left.y, left.z, left.w};
            const float rights[4] = {right.x, right.y, right.z, right.w};
#pragma unroll
            for (int element = 0; element < 16; ++element) {
                sums[element / 4][element % 4] += lefts[element / 4] * rights[element % 4];
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int element = 0; element < 16; ++element) {
        const int at_row = first_row + row + element / 4;
        const int at_column = first_column + column + element % 4;
        if (at_row < m && at_column < n) {
            c[static_cast<long long>(at_row) * n + at_column] = __float2bfloat16(sums[element / 4][element % 4]);
        }
    }
}
