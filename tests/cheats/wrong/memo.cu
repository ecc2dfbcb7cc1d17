/*@ lightbench(
    title: "Keeps the first results in device memory",
    expect: refused(device_globals),
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__device__ float kept[4096];
__device__ int is_filled;

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = is_filled ? kept[row] : sum;
    kept[row] = sum;
    if (row + 1 == rows) {
        is_filled = 1;
    }
}
