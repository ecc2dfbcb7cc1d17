/*@ lightbench(
    title: "A tree whose branches lie side by side",
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
    // The first half adds the second half, then the first quarter the second quarter: whole warps work or rest.
    part[t] = sum;
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (t < stride) {
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
