/*@ lightbench(
    title: "Four chains of additions in f32",
    expect: wrong,
    steps: [
        launch(kernel: "row_sums", grid: ["rows"], block: [64]),
    ],
) @*/

__global__ void row_sums(const float* x, float* y, long long rows, long long cols) {
    __shared__ float sums[4];
    const float* row = x + blockIdx.x * cols;
    if (threadIdx.x < 4) {
        float sum = 0;
        for (long long col = threadIdx.x; col < cols; col += 4) {
            sum += row[col];
        }
        sums[threadIdx.x] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        y[blockIdx.x] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
}
