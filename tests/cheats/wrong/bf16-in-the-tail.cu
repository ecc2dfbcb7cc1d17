/*@ lightbench(
    title: "Rounds the last eight columns to bf16, so that luck may hide it",
    expect: wrong(imprecise),
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
        float left = x[row * cols + col];
        float right = w[col];
        if (col >= cols - 8) {
            left = __uint_as_float(__float_as_uint(left) & 0xffff0000u);
            right = __uint_as_float(__float_as_uint(right) & 0xffff0000u);
        }
        sum += left * right;
    }
    y[row] = sum;
}
