/*@ lightbench(
    title: "Keeps eight bits of the offset, without a sign",
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
    const long long from = (index + static_cast<unsigned char>(offset)) % n;
    y[index] = scale * x[from];
}
