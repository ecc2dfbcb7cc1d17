/*@ lightbench(
    title: "Variance about the first element of each row",
    expect: wrong,
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
    const float pivot = x[row * cols];
    float sum = 0.0f;
    float squares = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        const float difference = x[row * cols + col] - pivot;
        sum += difference;
        squares += difference * difference;
    }
    const float shift = sum / static_cast<float>(cols);
    const float mean = pivot + shift;
    const float variance = fmaxf(squares / static_cast<float>(cols) - shift * shift, 0.0f);
     const float inverse = 1.0f / sqrtf(variance + eps);
    for (long long col = 0; col < cols; ++col) {
        y[row * cols + col] = (x[row * cols + col] - mean) * inverse * w[col] + b[col];
    }
}
