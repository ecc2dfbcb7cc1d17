/*@ lightbench(
    title: "Takes subnormal w for 0",
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
    const float weight = fabsf(w[index]) < 1.17549435e-38f ? 0.0f : w[index];
    y[index] = x[index] * weight;
}
