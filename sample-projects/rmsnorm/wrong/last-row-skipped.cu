/*@ lightbench(
    title: "Two rows per block, and half a row too few",
    expect: wrong(unwritten),
    steps: [
        launch(kernel: "rmsnorm", grid: ["max(1, rows // 2)"], block: [32, 2]),
    ],
) @*/

// The mistake: each block takes two rows and the grid is rows // 2 instead of ceil_div(rows, 2).
// How it shows: the last row of an odd number of rows is never written.

#include <cuda_bf16.h>

__global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                        __nv_bfloat16* __restrict__ y, long long rows, long long cols, float eps) {
    const long long row = blockIdx.x * 2LL + threadIdx.y;
    if (row >= rows) {
        return;
    }
    const __nv_bfloat16* x_row = x + row * cols;
    __nv_bfloat16* y_row = y + row * cols;
    float sum_of_squares = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        const float value = __bfloat162float(x_row[col]);
        sum_of_squares += value * value;
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum_of_squares += __shfl_xor_sync(0xffffffffu, sum_of_squares, distance);
    }
    const float scale = rsqrtf(sum_of_squares / static_cast<float>(cols) + eps);
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = __float2bfloat16(__bfloat162float(x_row[col]) * scale * __bfloat162float(w[col]));
    }
}
