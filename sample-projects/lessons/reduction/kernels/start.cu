/*@ lightbench(
    title: "Begin here: a tree whose branches lie apart",
    steps: [
        launch(kernel: "row_sums", grid: ["rows"], block: [256]),
    ],
) @*/

// lesson: locked, one block of 256 threads for each row, and whole lines for each warp
__global__ void row_sums(const float* __restrict__ x, float* __restrict__ sums, long long rows, long long cols) {
    __shared__ float part[256];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (long long col = t; col < cols; col += 256) {
        sum += x[blockIdx.x * cols + col];
    }
// lesson: open
    // 256 parts to one: in each round every second of those who are left adds its neighbour.
    part[t] = sum;
    __syncthreads();
    for (int stride = 1; stride < 256; stride *= 2) {
        if (t % (2 * stride) == 0) {
            part[t] += part[t + stride];
        }
        __syncthreads();
    }
    sum = part[0];
// lesson: locked
    if (t == 0) {
        sums[blockIdx.x] = sum;
    }
}
