/*@ lightbench(
    title: "Asks for 10 GB",
    expect: refused,
    scratch: [(name: "room", dtype: f32, shape: ["2500000000"])],
    steps: [
        launch(kernel: "product", args: ["x", "w", "y", "room", "rows: i64", "cols: i64"], grid: ["ceil_div(rows, 64)"],
               block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, float* room, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = sum;
    room[row] = sum;
}
