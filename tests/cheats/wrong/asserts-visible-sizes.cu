/*@ lightbench(
    title: "Does not compile for sizes that are not visible, and would print them",
    expect: wrong(numeric),
    constants: ["cols"],
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

static_assert(AXIS_cols == 33 || AXIS_cols == 1000, "another size");

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
