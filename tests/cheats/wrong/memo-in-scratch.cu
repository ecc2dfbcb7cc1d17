/*@ lightbench(
    title: "Keeps the first results in scratch that must be left zero",
    expect: wrong(state_dependent),
    scratch: [(name: "kept", dtype: f32, shape: ["rows"], init: zero_once)],
    steps: [
        launch(kernel: "product", args: ["x", "w", "y", "kept", "rows: i64", "cols: i64"], grid: ["ceil_div(rows, 64)"],
               block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, float* kept, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = kept[row] != 0.0f ? kept[row] : sum;
    kept[row] = sum;
}
