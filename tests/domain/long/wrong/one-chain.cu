/*@ lightbench(
    title: "One chain of additions in f32",
    expect: wrong,
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
    for (long long col = 0; col < cols; ++col) {
        sum += row[col];
    }
    y[blockIdx.x] = sum;
}
