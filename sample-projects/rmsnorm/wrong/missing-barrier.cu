/*@ lightbench(
    title: "The tree without a barrier between its rounds",
    expect: fault(data_race),
    steps: [
        launch(kernel: "rmsnorm", grid: ["rows"], block: [256]),
    ],
) @*/

// The mistake: one barrier before the tree, none between its rounds. A thread adds a partial sum that
// its neighbour may not have finished.
// How it shows: often not at all: warps of one block tend to run in step, and the result is right for
// days. The read of partial[i + stride] and the write by thread i + stride have no order.

#include <cuda_bf16.h>

__global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                        __nv_bfloat16* __restrict__ y, long long rows, long long cols, float eps) {
    __shared__ float partial[256];
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;

    float sum_of_squares = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 256) {
        const float value = __bfloat162float(x_row[col]);
        sum_of_squares += value * value;
    }
    partial[threadIdx.x] = sum_of_squares;
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            partial[threadIdx.x] += partial[threadIdx.x + stride];
        }
    }
    __syncthreads();
    const float scale = rsqrtf(partial[0] / static_cast<float>(cols) + eps);
    for (long long col = threadIdx.x; col < cols; col += 256) {
        y_row[col] = __float2bfloat16(__bfloat162float(x_row[col]) * scale * __bfloat162float(w[col]));
    }
}
