/*@ lightbench(
    title: "Replaces results below 1e-39 by 0",
    expect: wrong,
    steps: [
        launch(kernel: "multiply", grid: ["ceil_div(n, 64)"], block: [64]),
    ],
) @*/

__global__ void multiply(const float* x, const float* w, float* y, long long n) {
    const long long index = blockIdx.x * 64LL + threadIdx.x;
    if (index >= n) {
        return;
    }
    const float value = x[index] * w[index];
    y[index] = fabsf(value) < 1e-39f ? 0.0f : value;
}
