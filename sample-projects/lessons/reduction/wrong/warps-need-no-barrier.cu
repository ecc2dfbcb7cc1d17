/*@ lightbench(
    title: "The last warp goes on without waiting",
    expect: fault(data_race),
    steps: [
        launch(kernel: "row_sums", grid: ["rows"], block: [256]),
    ],
) @*/

// The mistake: an old trick. The last 32 threads are one warp and were believed to keep step; since 2017 every lane may be
// somewhere else.
// How it shows: a lane reads what another has yet to write, with nothing in between that orders the two.

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
        }
        if (stride > 32) {
            __syncthreads();
        }
    }
    if (t == 0) {
        sums[blockIdx.x] = part[0];
    }
}
