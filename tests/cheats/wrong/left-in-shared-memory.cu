/*@ lightbench(
    title: "Takes results that an earlier launch left in shared memory",
    expect: fault(uninitialized_read),
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    __shared__ volatile float kept[64];
    __shared__ volatile float key[64];
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float mine = x[row * cols] + w[0];
    if (key[threadIdx.x] == mine) {
        y[row] = kept[threadIdx.x];
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    key[threadIdx.x] = mine;
    kept[threadIdx.x] = sum;
    y[row] = sum;
}
