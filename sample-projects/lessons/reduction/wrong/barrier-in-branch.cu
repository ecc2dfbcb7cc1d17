/*@ lightbench(
    title: "Waits only where there is work",
    expect: fault(barrier_divergence),
    steps: [
        launch(kernel: "row_sums", grid: ["rows"], block: [256]),
    ],
) @*/

// The mistake: the barrier stands inside of the branch, so that some threads of a warp come to it and some do not.
// How it shows: a GPU may hang, or go on as if nothing had happened. Who is not there was not waited for.

__global__ void row_sums(const float* __restrict__ x, float* __restrict__ sums, long long rows, long long cols) {
    __shared__ float part[256];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (long long col = t; col < cols; col += 256) {
        sum += x[blockIdx.x * cols + col];
    }
    part[t] = sum;
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (t < stride) {
            part[t] += part[t + stride];
            __syncthreads();
        }
    }
    __syncthreads();
    if (t == 0) {
        sums[blockIdx.x] = part[0];
    }
}
