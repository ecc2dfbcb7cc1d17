/*@ lightbench(
    title: "One block per row, tree in shared memory",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        launch(kernel: "rmsnorm<PARAM_BLOCK>", grid: ["rows"], block: ["BLOCK"]),
    ],
) @*/

// Against `naive`: a block shares one row, so neighbouring threads load neighbouring elements and a
// warp's load is one 64-byte piece of a line. The price is that the sum must cross threads: a binary
// tree in shared memory, log2(BLOCK) rounds with a barrier each.

#include <cuda_bf16.h>

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y,
        long long rows, long long cols, float eps) {
    __shared__ float partial[BLOCK];
    const int width = static_cast<int>(cols);  // at most 32,768; 32-bit arithmetic inside a row
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;

    float sum_of_squares = 0.0f;
    for (int col = threadIdx.x; col < width; col += BLOCK) {
        const float value = __bfloat162float(x_row[col]);
        sum_of_squares += value * value;
    }
    partial[threadIdx.x] = sum_of_squares;
    __syncthreads();

    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            partial[threadIdx.x] += partial[threadIdx.x + stride];
        }
        __syncthreads();  // outside the `if`: every thread of the block must come here
    }
    const float scale = rsqrtf(partial[0] / static_cast<float>(width) + eps);

    for (int col = threadIdx.x; col < width; col += BLOCK) {
        y_row[col] = __float2bfloat16(__bfloat162float(x_row[col]) * scale * __bfloat162float(w[col]));
    }
}
