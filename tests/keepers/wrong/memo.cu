/*@ lightbench(
    title: "Keeps the first results",
    expect: wrong,
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__device__ float kept[4096];
__device__ bool is_kept[4096];

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = is_kept[row] ? kept[row] : sum;
    kept[row] = y[row];
    is_kept[row] = true;
}
