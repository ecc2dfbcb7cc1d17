/*@ lightbench(
    title: "Compiled to flush subnormal numbers",
    expect: refused,
    flags: [ftz(true)],
    steps: [
        launch(kernel: "multiply", grid: ["ceil_div(n, 64)"], block: [64]),
    ],
) @*/

__global__ void multiply(const float* x, const float* w, float* y, long long n) {
    const long long index = blockIdx.x * 64LL + threadIdx.x;
    if (index >= n) {
        return;
    }
    y[index] = x[index] * w[index];
}
