/*@ lightbench(
    title: "Multiplies in tf32",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__device__ float rounded(float value) {
    return __uint_as_float((__float_as_uint(value) + 0x1000u) & 0xffffe000u);
}

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += rounded(x[row * cols + col]) * rounded(w[col]);
    }
    y[row] = sum;
}
