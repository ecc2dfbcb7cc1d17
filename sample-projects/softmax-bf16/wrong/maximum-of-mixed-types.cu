/*@ lightbench(
    title: "Chooses between a float and a bf16",
    expect: compile,
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: `x_row[col] > row_max ? x_row[col] : row_max`, left over from the f32 kernel. A float converts
// to a bf16 and a bf16 to a float, so the expression has no type of its own.
// How it shows: `operand types are incompatible` or `ambiguous`, with line and column.

#include <cuda_bf16.h>

__global__ void softmax(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, long long rows,
                        long long cols) {
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;
    float row_max = __bfloat162float(x_row[0]);
    for (long long col = threadIdx.x; col < cols; col += 32) {
        row_max = x_row[col] > row_max ? x_row[col] : row_max;
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        row_max = fmaxf(row_max, __shfl_xor_sync(0xffffffffu, row_max, distance));
    }
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        sum += expf(__bfloat162float(x_row[col]) - row_max);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = __float2bfloat16(expf(__bfloat162float(x_row[col]) - row_max) / sum);
    }
}
