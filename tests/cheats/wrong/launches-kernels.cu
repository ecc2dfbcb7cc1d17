/*@ lightbench(
    title: "Launches another kernel from the device",
    expect: compile,
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void rest(float* y, long long rows) {
    y[rows - 1] = 0.0f;
}

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    if (row == 0) {
        rest<<<1, 64>>>(y, rows);
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = sum;
}
