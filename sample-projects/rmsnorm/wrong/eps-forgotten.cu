/*@ lightbench(
    title: "Forgets eps",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "rmsnorm", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: `eps` is accepted and not used.
// How it shows: hardly on ordinary data, where mean(x^2) is near 1: y changes by 5e-6 of itself, far
// below a bf16 step. On values around 1e-3 it is a factor of three, and a row of zeros gives NaN.

#include <cuda_bf16.h>

__global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                        __nv_bfloat16* __restrict__ y, long long rows, long long cols, float eps) {
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;
    float sum_of_squares = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        const float value = __bfloat162float(x_row[col]);
        sum_of_squares += value * value;
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum_of_squares += __shfl_xor_sync(0xffffffffu, sum_of_squares, distance);
    }
    const float scale = rsqrtf(sum_of_squares / static_cast<float>(cols));
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = __float2bfloat16(__bfloat162float(x_row[col]) * scale * __bfloat162float(w[col]));
    }
}
