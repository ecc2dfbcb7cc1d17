/*@ lightbench(
    title: "Asks for more shared memory than a block may have",
    expect: refused,
    steps: [
        launch(kernel: "product", grid: ["ceil_div(rows, 64)"], block: [64], shared: "232448"),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    extern __shared__ float room[];
    __shared__ float more[256];
    room[threadIdx.x] = 0.0f;
    more[threadIdx.x] = 0.0f;
    float sum = room[threadIdx.x] + more[threadIdx.x];
    for (long long col = 0; col < cols; ++col) {
        sum += x[row * cols + col] * w[col];
    }
    y[row] = sum;
}
