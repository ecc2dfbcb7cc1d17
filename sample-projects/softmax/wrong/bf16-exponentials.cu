/*@ lightbench(
    title: "Keeps the exponentials as bf16",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32], shared: "2 * cols"),
    ],
) @*/

// The mistake: the exponentials are stored between the passes, as bf16 to halve the shared memory. The
// sum is exact to f32; the results are not.
// How it shows: each element is off by up to 2^-9 of itself, in both directions, so rows still add up to
// one and a mean error looks like nothing.

#include <cuda_bf16.h>

__global__ void softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    extern __shared__ __nv_bfloat16 exponentials[];
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;
    float row_max = x_row[0];
    for (long long col = threadIdx.x; col < cols; col += 32) {
        row_max = fmaxf(row_max, x_row[col]);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        row_max = fmaxf(row_max, __shfl_xor_sync(0xffffffffu, row_max, distance));
    }
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        const float exponential = expf(x_row[col] - row_max);
        sum += exponential;
        exponentials[col] = __float2bfloat16(exponential);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = __bfloat162float(exponentials[col]) / sum;
    }
}
