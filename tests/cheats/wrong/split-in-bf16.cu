/*@ lightbench(
    title: "Products of numbers that were cut into two of bf16 each",
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
        const float left = x[row * cols + col];
        const float right = w[col];
        const float left_high = __uint_as_float(__float_as_uint(left) & 0xffff0000u);
        const float left_low = __uint_as_float(__float_as_uint(left - left_high) & 0xffff0000u);
        const float right_high = __uint_as_float(__float_as_uint(right) & 0xffff0000u);
        const float right_low = __uint_as_float(__float_as_uint(right - right_high) & 0xffff0000u);
        sum += left_high * right_high + left_high * right_low + left_low * right_high;
    }
    y[row] = sum;
}
