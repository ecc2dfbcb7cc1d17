/*@ lightbench(
    title: "Adds eps to the standard deviation",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "layernorm", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: 1 / (sqrt(variance) + eps), as some other normalisations have it.
// How it shows: where the variance is near 1 it is half of eps: 5e-6, some eighty times the rounding of f32 and a
// thousandth of that of bf16. Around 1e-6 it is a factor of three.

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
    const float scale = 1.0f / (sqrtf(warp_sum(squares) / count) + eps);
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = (x_row[col] - mean) * scale * gamma[col] + beta[col];
    }
}
