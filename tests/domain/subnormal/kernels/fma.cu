/*@ lightbench(
    title: "By a fused multiply and add",
    steps: [
        launch(kernel: "multiply", grid: ["ceil_div(n, 64)"], block: [64]),
    ],
) @*/

__global__ void multiply(const float* x, const float* w, float* y, long long n) {
    const long long index = blockIdx.x * 64LL + threadIdx.x;
    if (index >= n) {
        return;
    }
    y[index] = fmaf(x[index], w[index], 0.0f);
}
