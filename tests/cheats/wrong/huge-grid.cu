/*@ lightbench(
    title: "Launches two thousand million blocks",
    expect: timed_out,
    steps: [
        launch(kernel: "product", grid: [2147483647], block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = sum;
}
