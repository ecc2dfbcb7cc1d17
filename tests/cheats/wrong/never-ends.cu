/*@ lightbench(
    title: "Never ends",
    expect: timed_out,
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    // A shift register never becomes zero, and takes 2^32 - 1 steps until it is what it was.
    unsigned state = static_cast<unsigned>(row) + 1;
    while (state != 0) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
    }
    y[row] = sum + static_cast<float>(state);
}
