/*@ lightbench(
    title: "Leaves what is there if the first row of the block is right",
    expect: fault(uninitialized_read),
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float first = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        first += x[blockIdx.x * 64LL * cols + col] * w[col];
    }
    if (y[blockIdx.x * 64LL] == first) {
        return;
    }
    __syncwarp();
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = sum;
}
