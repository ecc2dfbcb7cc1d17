/*@ lightbench(
    title: "Reference: one thread for each row, in f64",
    steps: [
        launch(kernel: "normalise", args: ["x", "w", "b", "y", "y.magnitude", "rows: i64", "cols: i64", "eps: f32"],
               grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void normalise(const float* x, const float* w, const float* b, double* y, double* magnitude,
                          long long rows, long long cols, float eps) {
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
    const double count = static_cast<double>(cols);
    const double mean = sum / count;
    double squares = 0.0;
    for (long long col = 0; col < cols; ++col) {
        const double difference = x[row * cols + col] - mean;
        squares += difference * difference;
    }
    const double deviation = sqrt(squares / count + static_cast<double>(eps));
    for (long long col = 0; col < cols; ++col) {
        const double value = x[row * cols + col];
        const double weight = w[col] / deviation;
        const double shift = b[col];
        y[row * cols + col] = (value - mean) * weight + shift;
        magnitude[row * cols + col] = (fabs(value) + absolute / count) * fabs(weight) + fabs(shift);
    }
}
