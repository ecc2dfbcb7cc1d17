/*@ lightbench(
    title: "Asks for more local memory than a thread can have",
    expect: refused,
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float products[1 << 18];
    for (long long col = 0; col < cols; ++col) {
        products[(col * 7919) % (1 << 18)] = x[row * cols + col] * w[col];
    }
    float sum = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        sum += products[(col * 7919) % (1 << 18)];
    }
    y[row] = sum;
}
