/*@ lightbench(
    title: "Takes subnormal x for 0",
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
    const float value = fabsf(x[index]) < 1.17549435e-38f ? 0.0f : x[index];
    y[index] = value * w[index];
}
