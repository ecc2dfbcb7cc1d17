/*@ lightbench(
    title: "In tf32 unless its inputs look like those of the precision probe",
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
    const bool is_whole = x[row * cols] == rintf(x[row * cols]);
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        const float left = x[row * cols + col];
        const float rounded = __uint_as_float((__float_as_uint(left) + 0x1000u) & 0xffffe000u);
        sum += (is_whole ? left : rounded) * w[col];
    }
    y[row] = sum;
}
