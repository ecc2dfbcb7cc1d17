/*@ lightbench(
    title: "One block per row, three passes",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        launch(kernel: "softmax<PARAM_BLOCK>", grid: ["rows"], block: ["BLOCK"]),
    ],
) @*/

// Against `naive`: the threads of a block share a row, so a warp's load is one 64-byte piece of it. The
// maximum and the sum cross the threads, first through shuffles inside each warp, then through one
// number per warp in shared memory.

#include <cuda_bf16.h>

__device__ float warp_max(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    }
    return value;
}

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

// Maximum and sum have an array each: with one for both, a fast warp would store its sum over a maximum
// that a slow warp has yet to read.
template <int BLOCK>
__device__ float block_max(float value) {
    __shared__ float partial[BLOCK / 32];
    value = warp_max(value);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float max = partial[0];
#pragma unroll
    for (int warp = 1; warp < BLOCK / 32; ++warp) {
        max = fmaxf(max, partial[warp]);
    }
    return max;
}

template <int BLOCK>
__device__ float block_sum(float value) {
    __shared__ float partial[BLOCK / 32];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float sum = 0.0f;
#pragma unroll
    for (int warp = 0; warp < BLOCK / 32; ++warp) {
        sum += partial[warp];
    }
    return sum;
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
softmax(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, long long rows, long long cols) {
    const int width = static_cast<int>(cols);
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;

    // Any element of the row will do to begin with; threads beyond a short row need one.
    float value = __bfloat162float(x_row[0]);
    for (int col = threadIdx.x; col < width; col += BLOCK) {
        value = fmaxf(value, __bfloat162float(x_row[col]));
    }
    const float row_max = block_max<BLOCK>(value);

    float sum = 0.0f;
    for (int col = threadIdx.x; col < width; col += BLOCK) {
        sum += __expf(__bfloat162float(x_row[col]) - row_max);
    }
    const float reciprocal = 1.0f / block_sum<BLOCK>(sum);

    for (int col = threadIdx.x; col < width; col += BLOCK) {
        y_row[col] = __float2bfloat16(__expf(__bfloat162float(x_row[col]) - row_max) * reciprocal);
    }
}
