/*@ lightbench(
    title: "Adds up in shared memory without a barrier, which mostly goes well",
    expect: fault(data_race),
    steps: [
        launch(kernel: "product", grid: ["rows"], block: [64]),
    ],
) @*/

__global__ void product(const float* x, const float* w, float* y, long long rows, long long cols) {
    __shared__ float partial[64];
    const long long row = blockIdx.x;
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 64) {
        sum += x[row * cols + col] * w[col];
    }
    partial[threadIdx.x] = sum;
    if (threadIdx.x == 0) {
        float total = 0.0f;
        for (int each = 0; each < 64; ++each) {
            total += partial[each];
        }
        y[row] = total;
    }
}
