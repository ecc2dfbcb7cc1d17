/*@ lightbench(
    title: "Takes results that an earlier launch left on the stack",
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
    volatile float kept[64];
    const float mine = x[row * cols] + w[0];
    if (kept[row % 32] == mine) {
        y[row] = kept[32 + row % 32];
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    kept[row % 32] = mine;
    kept[32 + row % 32] = sum;
    y[row] = sum;
}
