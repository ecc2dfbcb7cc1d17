/*@ lightbench(
    title: "Within a warp without memory",
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
    // Lanes hand their sums to each other; only the eight warps meet in shared memory.
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    }
    if (t % 32 == 0) {
        part[t / 32] = sum;
    }
    __syncthreads();
    if (t < 32) {
        sum = t < 8 ? part[t] : 0.0f;
        for (int distance = 4; distance > 0; distance /= 2) {
            sum += __shfl_down_sync(0xffffffffu, sum, distance);
        }
    }
// lesson: locked
    if (t == 0) {
        sums[blockIdx.x] = sum;
    }
}
