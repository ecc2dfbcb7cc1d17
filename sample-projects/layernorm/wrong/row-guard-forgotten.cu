/*@ lightbench(
    title: "Four rows per block, and no test for the last",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "layernorm", grid: ["ceil_div(rows, 4)"], block: [32, 4]),
    ],
) @*/

// The mistake: a block takes four rows, and the last block takes them too.
// How it shows: up to three rows beyond the end of x are read and of y written. Batches are usually multiples of four.

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

__global__ void layernorm(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                          float* __restrict__ y, long long rows, long long cols, float eps) {
    const float* x_row = x + (4LL * blockIdx.x + threadIdx.y) * cols;
    float* y_row = y + (4LL * blockIdx.x + threadIdx.y) * cols;
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
    const float scale = rsqrtf(warp_sum(squares) / count + eps);
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = (x_row[col] - mean) * scale * gamma[col] + beta[col];
    }
}
