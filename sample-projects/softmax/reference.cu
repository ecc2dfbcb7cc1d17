/*@ lightbench(
    title: "Reference: one thread per row, three passes, in f64",
    steps: [
        launch(kernel: "softmax_reference", args: ["x", "y", "y.magnitude", "rows", "cols"],
               grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

// exp(x - max) is only as good as its argument: a relative error u in the difference d = x - max changes
// the result by |d| * u. So the terms of an element are itself and d times itself.
//
// The last term of the magnitude makes room for one smallest normal f32 (2^-126, seen through the unit
// roundoff 2^-24): below it a GPU may flush to zero, and no probability that small means anything.
__global__ void softmax_reference(const float* x, double* y, double* magnitude, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    double row_max = x[row * cols];
    for (long long col = 1; col < cols; ++col) {
        row_max = fmax(row_max, static_cast<double>(x[row * cols + col]));
    }
    double sum = 0.0;
    for (long long col = 0; col < cols; ++col) {
        sum += exp(static_cast<double>(x[row * cols + col]) - row_max);
    }
    for (long long col = 0; col < cols; ++col) {
        const double difference = static_cast<double>(x[row * cols + col]) - row_max;
        const double result = exp(difference) / sum;
        y[row * cols + col] = result;
        magnitude[row * cols + col] = result * (1.0 + fabs(difference)) + 0x1p-102;
    }
}
