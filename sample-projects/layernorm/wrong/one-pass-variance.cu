/*@ lightbench(
    title: "Variance as mean(x^2) - mean(x)^2",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "layernorm", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the formula that saves a pass. With a mean of 4,000 and a variance of 1 it subtracts 16,000,000 from
// 16,000,001, and f32 has a digit for every whole number up to 16,777,216.
// How it shows: not at all around zero, where everybody tests it. With a large mean the variance is noise; the maximum
// with zero, which people add when they have seen NaN here, turns half of it into zeros.

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
    float squares = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        sum += x_row[col];
        squares += x_row[col] * x_row[col];
    }
    const float mean = warp_sum(sum) / count;
    const float variance = fmaxf(warp_sum(squares) / count - mean * mean, 0.0f);
    const float scale = rsqrtf(variance + eps);
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = (x_row[col] - mean) * scale * gamma[col] + beta[col];
    }
}
