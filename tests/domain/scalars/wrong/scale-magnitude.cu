/*@ lightbench(
    title: "Takes the magnitude of the scale",
    expect: wrong,
    steps: [
        launch(kernel: "rotate", grid: ["ceil_div(n, 64)"], block: [64]),
    ],
) @*/

__global__ void rotate(const float* x, float* y, long long n, int offset, float scale) {
    const long long index = blockIdx.x * 64LL + threadIdx.x;
    if (index >= n) {
        return;
    }
    const long long from = ((index + offset) % n + n) % n;
    y[index] = fabsf(scale) * x[from];
}
