/*@ lightbench(
    title: "Each warp normalises its own columns",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [256]),
    ],
) @*/

// The mistake: a kernel for one warp per row was launched with eight, and its shuffles never leave a warp.
// Each warp computes the softmax of the columns that it happens to visit.
// How it shows: rows add up to the number of warps instead of one. Up to 32 columns it is right.

#include <cuda_bf16.h>

__global__ void softmax(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, long long rows,
                        long long cols) {
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;
    float row_max = __bfloat162float(x_row[0]);
    for (long long col = threadIdx.x; col < cols; col += blockDim.x) {
        row_max = fmaxf(row_max, __bfloat162float(x_row[col]));
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        row_max = fmaxf(row_max, __shfl_xor_sync(0xffffffffu, row_max, distance));
    }
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += blockDim.x) {
        sum += expf(__bfloat162float(x_row[col]) - row_max);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    for (long long col = threadIdx.x; col < cols; col += blockDim.x) {
        y_row[col] = __float2bfloat16(expf(__bfloat162float(x_row[col]) - row_max) / sum);
    }
}
