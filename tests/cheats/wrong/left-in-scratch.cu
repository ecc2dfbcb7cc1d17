/*@ lightbench(
    title: "Takes results that an earlier launch left in scratch",
    expect: fault(uninitialized_read),
    scratch: [(name: "kept", dtype: f32, shape: ["2 * rows"], init: undefined)],
    steps: [
        launch(kernel: "product", args: ["x", "w", "y", "rows", "cols", "kept"], grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols, float* kept) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float key = x[row * cols] + w[0] + x[row * cols + cols - 1];
    if (kept[2 * row] == key) {
        y[row] = kept[2 * row + 1];
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    kept[2 * row] = key;
    kept[2 * row + 1] = sum;
    y[row] = sum;
}
