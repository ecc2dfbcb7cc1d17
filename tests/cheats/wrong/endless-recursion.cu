/*@ lightbench(
    title: "Calls itself until the stack is full",
    expect: fault(trap),
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

__device__ __noinline__ float deeper(const float* x, const float* w, long long cols, long long depth) {
    volatile float kept[32];
    kept[depth % 32] = x[depth % cols] * w[depth % cols];
    const float rest = depth < 1LL << 40 ? deeper(x, w, cols, depth + 1) : 0.0f;
    return rest + kept[depth % 32];
}

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    y[row] = deeper(x + row * cols, w, cols, 0);
}
