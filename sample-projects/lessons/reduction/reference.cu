/*@ lightbench(
    title: "Reference: one thread per row, in f64",
    steps: [
        launch(kernel: "sums_reference", args: ["x", "sums", "sums.magnitude", "rows", "cols"],
               grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void sums_reference(const float* x, double* sums, double* magnitude, long long rows, long long cols) {
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
    sums[row] = sum;
    magnitude[row] = absolute;
}
