/*@ lightbench(
    title: "Reference: one thread for each row, in f64",
    steps: [
        launch(kernel: "row_sums", args: ["x", "y", "y.magnitude", "rows: i64", "cols: i64"], grid: ["ceil_div(rows, 64)"],
               block: [64]),
    ],
) @*/

__global__ void row_sums(const float* x, double* y, double* magnitude, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    double sum = 0.0;
    double absolute = 0.0;
    for (long long col = 0; col < cols; ++col) {
        const double value = x[row * cols + col];
        sum += value;
        absolute += fabs(value);
    }
    y[row] = sum;
    magnitude[row] = absolute;
}
