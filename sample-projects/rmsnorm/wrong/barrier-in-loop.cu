/*@ lightbench(
    title: "A barrier inside a loop of unequal length",
    expect: fault(barrier_divergence),
    steps: [
        launch(kernel: "rmsnorm", grid: ["rows"], block: [256]),
    ],
) @*/

// The mistake: the row is staged through shared memory tile by tile, with barriers inside
// `for (col = threadIdx.x; ...)`. Where the block size does not divide the row, some threads leave the
// loop one round before the others and wait at a different barrier.
// How it shows: a hang, or two different barriers that meet and pass; at 1,024 or 8,192 columns, never.

#include <cuda_bf16.h>

__global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                        __nv_bfloat16* __restrict__ y, long long rows, long long cols, float eps) {
    __shared__ float tile[256];
    __shared__ float sum_of_squares;
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;

    if (threadIdx.x == 0) {
        sum_of_squares = 0.0f;
    }
    for (long long col = threadIdx.x; col < cols; col += 256) {
        const float value = __bfloat162float(x_row[col]);
        tile[threadIdx.x] = value * value;
        __syncthreads();
        if (threadIdx.x == 0) {
            const long long filled = min(256LL, cols - col);
            for (int index = 0; index < filled; ++index) {
                sum_of_squares += tile[index];
            }
        }
        __syncthreads();
    }
    __syncthreads();
    const float scale = rsqrtf(sum_of_squares / static_cast<float>(cols) + eps);
    for (long long col = threadIdx.x; col < cols; col += 256) {
        y_row[col] = __float2bfloat16(__bfloat162float(x_row[col]) * scale * __bfloat162float(w[col]));
    }
}
