/*@ lightbench(
    title: "Reference: one thread per row, three passes, in f64",
    steps: [
        launch(kernel: "layernorm_reference",
               args: ["x", "gamma", "beta", "y", "y.magnitude", "rows", "cols", "eps"],
               grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

// y = x s - mean s + beta with s = gamma / sqrt(variance + eps). The mean is itself a sum, known as well as the mean of
// |x| allows; the terms of an element are |x| s, mean(|x|) s and |beta|.
//
// The variance adds nothing to that. Computed from differences it is as good as they are, however large the mean;
// computed as mean(x^2) - mean(x)^2 it loses all digits that the two have in common. That is a mistake of the method,
// not a rounding error to be allowed for.
__global__ void layernorm_reference(const float* x, const float* gamma, const float* beta, double* y,
                                    double* magnitude, long long rows, long long cols, float eps) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* x_row = x + row * cols;
    const double count = static_cast<double>(cols);
    double sum = 0.0;
    double absolute = 0.0;
    for (long long col = 0; col < cols; ++col) {
        sum += static_cast<double>(x_row[col]);
        absolute += fabs(static_cast<double>(x_row[col]));
    }
    const double mean = sum / count;
    double squares = 0.0;
    for (long long col = 0; col < cols; ++col) {
        const double difference = static_cast<double>(x_row[col]) - mean;
        squares += difference * difference;
    }
    const double deviation = sqrt(squares / count + static_cast<double>(eps));
    for (long long col = 0; col < cols; ++col) {
        const double value = x_row[col];
        const double weight = static_cast<double>(gamma[col]) / deviation;
        const double shift = beta[col];
        y[row * cols + col] = (value - mean) * weight + shift;
        magnitude[row * cols + col] = (fabs(value) + absolute / count) * fabs(weight) + fabs(shift);
    }
}
