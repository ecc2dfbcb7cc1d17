/*@ lightbench(
    title: "Drops an input from the cache",
    expect: refused(cache_persistence),
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
    y[row] = sum;
    if (row == 0 && reinterpret_cast<unsigned long long>(x) % 128 == 0) {
        asm volatile("discard.global.L2 [%0], 128;" :: "l"(x) : "memory");
    }
}
