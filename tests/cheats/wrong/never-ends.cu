/*@ lightbench(
    title: "Never ends",
    expect: timed_out,
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
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
    unsigned state = static_cast<unsigned>(row) + 1;
    while (state != 0) {
        state = state * 1664525u + 1013904223u;
        state |= 1u;
    }
    y[row] = sum + static_cast<float>(state);
}
