/*@ lightbench(
    title: "Two passes, one chain of additions each",
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
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col];
    }
    const float mean = sum / static_cast<float>(cols);
    float squares = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        const float difference = x[row * cols + col] - mean;
        squares += difference * difference;
    }
    const float variance = squares / static_cast<float>(cols);
    const float inverse = 1.0f / sqrtf(variance + eps);
    for (long long col = 0; col < cols; ++col) {
        y[row * cols + col] = (x[row * cols + col] - mean) * inverse * w[col] + b[col];
    }
}
