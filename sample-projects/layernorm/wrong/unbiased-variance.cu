/*@ lightbench(
    title: "Divides by one less",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "layernorm", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the variance of a sample (`cols - 1`, the default of many `var` functions) instead of that of the row.
// How it shows: a row of 4,099 changes by an eighth of a thousandth, a row of two by a third.

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
    const float scale = rsqrtf(warp_sum(squares) / (count - 1.0f) + eps);
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = (x_row[col] - mean) * scale * gamma[col] + beta[col];
    }
}
