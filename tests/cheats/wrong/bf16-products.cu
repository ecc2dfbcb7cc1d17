/*@ lightbench(
    title: "Multiplies in bf16",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

#include <cuda_bf16.h>

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += __bfloat162float(__float2bfloat16(x[row * cols + col])) * w[col];
    }
    y[row] = sum;
}
