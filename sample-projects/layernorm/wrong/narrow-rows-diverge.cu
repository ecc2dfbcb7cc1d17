/*@ lightbench(
    title: "Only threads that have an element shuffle",
    expect: fault(warp_sync),
    steps: [
        launch(kernel: "layernorm", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: threads beyond the row return early, and the others fetch the partial sums of all 32 lanes in their
// shuffles. A lane that is gone may be named in the mask, but what is read from it is undefined.
// How it shows: only for rows of less than 32 elements. There, on most GPUs, the missing lanes hand back the reader's
// own value, and each element is counted several times.

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
    if (threadIdx.x >= cols) {
        return;
    }
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        sum += x_row[col];
    }
    const float mean = warp_sum(sum) / count;
    float squares = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        const float difference = x_row[col] - mean;
        squares += difference * difference;
    }
    const float scale = rsqrtf(warp_sum(squares) / count + eps);
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = (x_row[col] - mean) * scale * gamma[col] + beta[col];
    }
}
