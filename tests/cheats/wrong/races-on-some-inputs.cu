/*@ lightbench(
    title: "Races unless an input is near zero",
    expect: fault(data_race),
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    __shared__ volatile float sums[64];
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    if (fabsf(x[0]) <= 0.05f) {
        y[row] = sum;
        return;
    }
    sums[threadIdx.x] = sum;
    // The lane before may not have stored yet.
    y[row] = sum + 0.0f * sums[threadIdx.x & ~1u];
}
