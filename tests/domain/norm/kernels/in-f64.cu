/*@ lightbench(
    title: "Sums in f64",
    steps: [
        launch(kernel: "normalise", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void normalise(const float* x, const float* w, const float* b, float* y, long long rows, long long cols,
                          float eps) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    double sum = 0.0;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col];
    }
    const float mean = static_cast<float>(sum / static_cast<double>(cols));
    double squares = 0.0;
    for (long long col = 0; col < cols; ++col) {
        const double difference = x[row * cols + col] - sum / static_cast<double>(cols);
        squares += difference * difference;
    }
    const float variance = static_cast<float>(squares / static_cast<double>(cols));
    const float inverse = 1.0f / sqrtf(variance + eps);
    for (long long col = 0; col < cols; ++col) {
        y[row * cols + col] = (x[row * cols + col] - mean) * inverse * w[col] + b[col];
    }
}
