/*@ lightbench(
    title: "Keeps its intermediate result in x",
    expect: fault(input_modified),
    steps: [
        launch(kernel: "rmsnorm", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the weighted row is written back over x 'because x is not needed any more' and then
// copied to y. The residual connection of the model does need it.
// How it shows: y is right. x is not x any more.

#include <cuda_bf16.h>

__global__ void rmsnorm(__nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, long long rows, long long cols,
                        float eps) {
    __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;
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
        x_row[col] = __float2bfloat16(__bfloat162float(x_row[col]) * scale * __bfloat162float(w[col]));
        y_row[col] = x_row[col];
    }
}
