/*@ lightbench(
    title: "One shared array for two sums",
    expect: fault(data_race),
    steps: [
        launch(kernel: "layernorm", grid: ["rows"], block: [256]),
    ],
) @*/

// The mistake: the sums of the squares go into the array that held the sums of x, and no barrier says that everybody
// has read those.
// How it shows: seldom. A warp must be done with the second pass before another has finished with the first sum.

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                          float* __restrict__ y, long long rows, long long cols, float eps) {
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;
    const float count = static_cast<float>(cols);
    __shared__ float partial[8];
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 256) {
        sum += x_row[col];
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    float mean = 0.0f;
    for (int warp = 0; warp < 8; ++warp) {
        mean += partial[warp] / count;
    }
    float squares = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 256) {
        const float difference = x_row[col] - mean;
        squares += difference * difference;
    }
    squares = warp_sum(squares);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = squares;
    }
    __syncthreads();
    float variance = 0.0f;
    for (int warp = 0; warp < 8; ++warp) {
        variance += partial[warp] / count;
    }
    const float scale = rsqrtf(variance + eps);
    for (long long col = threadIdx.x; col < cols; col += 256) {
        y_row[col] = (x_row[col] - mean) * scale * gamma[col] + beta[col];
    }
}
