/*@ lightbench(
    title: "One chain of compensated additions",
    steps: [
        launch(kernel: "row_sums", grid: ["rows"], block: [64]),
    ],
) @*/

__global__ void row_sums(const float* x, float* y, long long rows, long long cols) {
    const float* row = x + blockIdx.x * cols;
    if (threadIdx.x != 0) {
        return;
    }
    float sum = 0;
    float lost = 0;
    for (long long col = 0; col < cols; ++col) {
        const float term = row[col] - lost;
        const float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    y[blockIdx.x] = sum;
}
