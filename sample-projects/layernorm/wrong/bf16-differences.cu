/*@ lightbench(
    title: "Keeps the centred row in half the memory",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "layernorm", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the differences are staged in shared memory as bf16, to fit twice as many rows.
// How it shows: everything is right to eight bits. The mean of the result is still zero and its variance one.

#include <cuda_bf16.h>

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
    __shared__ __nv_bfloat16 row[16384];
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        sum += x_row[col];
    }
    const float mean = warp_sum(sum) / count;
    float squares = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        const float difference = x_row[col] - mean;
        row[col] = __float2bfloat16(difference);
        squares += difference * difference;
    }
    const float scale = rsqrtf(warp_sum(squares) / count + eps);
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = __bfloat162float(row[col]) * scale * gamma[col] + beta[col];
    }
}
