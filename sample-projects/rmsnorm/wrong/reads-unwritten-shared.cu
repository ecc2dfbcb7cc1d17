/*@ lightbench(
    title: "Adds 32 partial sums where eight were written",
    expect: fault(uninitialized_read),
    steps: [
        launch(kernel: "rmsnorm", grid: ["rows"], block: [256]),
    ],
) @*/

// The mistake: the first warp adds partial[0..32], as in a block of 1,024 threads. This block has eight
// warps, so 24 of the 32 entries were never written.
// How it shows: shared memory often happens to hold zeros, and then the result is right; after another
// kernel has used it, it is not.

#include <cuda_bf16.h>

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

__global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                        __nv_bfloat16* __restrict__ y, long long rows, long long cols, float eps) {
    __shared__ float partial[32];
    __shared__ float scale;
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;

    float sum_of_squares = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 256) {
        const float value = __bfloat162float(x_row[col]);
        sum_of_squares += value * value;
    }
    sum_of_squares = warp_sum(sum_of_squares);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = sum_of_squares;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        const float total = warp_sum(partial[threadIdx.x]);
        if (threadIdx.x == 0) {
            scale = rsqrtf(total / static_cast<float>(cols) + eps);
        }
    }
    __syncthreads();
    for (long long col = threadIdx.x; col < cols; col += 256) {
        y_row[col] = __float2bfloat16(__bfloat162float(x_row[col]) * scale * __bfloat162float(w[col]));
    }
}
