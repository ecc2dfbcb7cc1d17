/*@ lightbench(
    title: "One block per row, reduced with warp shuffles",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        launch(kernel: "rmsnorm<PARAM_BLOCK>", grid: ["rows"], block: ["BLOCK"]),
    ],
) @*/

// Against `shared-tree`: the 32 threads of a warp add up through registers (`shfl`, five rounds, no
// memory, no barrier). Only one number per warp goes through shared memory, with one barrier instead
// of log2(BLOCK) + 1.

#include <cuda_bf16.h>

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

// The sum over all threads of the block, returned to each of them. Call it once per kernel: a second
// call would overwrite `partial` while slow threads still read the first result.
template <int BLOCK>
__device__ float block_sum(float value) {
    __shared__ float partial[BLOCK / 32];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    // All threads read the same words in the same order: broadcasts, free of bank conflicts, and no
    // second barrier to hand the total back.
    float total = 0.0f;
#pragma unroll
    for (int warp = 0; warp < BLOCK / 32; ++warp) {
        total += partial[warp];
    }
    return total;
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y,
        long long rows, long long cols, float eps) {
    const int width = static_cast<int>(cols);
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;

    float sum_of_squares = 0.0f;
    for (int col = threadIdx.x; col < width; col += BLOCK) {
        const float value = __bfloat162float(x_row[col]);
        sum_of_squares += value * value;
    }
    const float scale = rsqrtf(block_sum<BLOCK>(sum_of_squares) / static_cast<float>(width) + eps);

    for (int col = threadIdx.x; col < width; col += BLOCK) {
        y_row[col] = __float2bfloat16(__bfloat162float(x_row[col]) * scale * __bfloat162float(w[col]));
    }
}
