/*@ lightbench(
    title: "Keeps the differences in x",
    expect: fault(input_modified),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: every element of x is lowered by the row's maximum in place, to save a subtraction.
// How it shows: y is right as often as the kernel is run, because softmax does not depend on a shift. But
// x belongs to somebody else.

#include <cuda_bf16.h>

__global__ void softmax(__nv_bfloat16* x, __nv_bfloat16* y, long long rows, long long cols) {
    __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;
    float row_max = __bfloat162float(x_row[0]);
    for (long long col = threadIdx.x; col < cols; col += 32) {
        row_max = fmaxf(row_max, __bfloat162float(x_row[col]));
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        row_max = fmaxf(row_max, __shfl_xor_sync(0xffffffffu, row_max, distance));
    }
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        const float difference = __bfloat162float(x_row[col]) - row_max;
        x_row[col] = __float2bfloat16(difference);
        sum += expf(difference);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = __float2bfloat16(expf(__bfloat162float(x_row[col])) / sum);
    }
}
