/*@ lightbench(
    title: "Reference: one thread for each row, in f64",
    steps: [
        launch(kernel: "product", args: ["x", "w", "y", "y.magnitude", "rows: i64", "cols: i64"],
               grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, double* y, double* magnitude, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    double sum = 0.0;
    double magnitudes = 0.0;
    for (long long col = 0; col < cols; ++col) {
        const double term = static_cast<double>(x[row * cols + col]) * w[col];
        sum += term;
        magnitudes += fabs(term);
    }
    y[row] = sum;
    magnitude[row] = magnitudes;
}
