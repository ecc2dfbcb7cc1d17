/*@ lightbench(
    title: "Eight threads shuffle with a mask of thirty-two",
    expect: fault(warp_sync),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [256]),
    ],
) @*/

// The mistake: the last stage of the sum runs `if (threadIdx.x < 8)`, and its shuffles name all 32 threads
// of the warp. Each named thread must execute the shuffle; 24 of them never come.
// How it shows: on most GPUs it works, by luck; the standard allows a hang. The mask of this branch is
// 0xff; better, let all 32 threads take part and bring a neutral element.

#include <cuda_bf16.h>

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

__global__ void softmax(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, long long rows,
                        long long cols) {
    __shared__ float partial_max[256];
    __shared__ float partial_sum[8];
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;

    float row_max = __bfloat162float(x_row[0]);
    for (long long col = threadIdx.x; col < cols; col += 256) {
        row_max = fmaxf(row_max, __bfloat162float(x_row[col]));
    }
    partial_max[threadIdx.x] = row_max;
    __syncthreads();
    for (int index = 0; index < 256; ++index) {
        row_max = fmaxf(row_max, partial_max[index]);
    }

    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 256) {
        sum += expf(__bfloat162float(x_row[col]) - row_max);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) {
        partial_sum[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x < 8) {
        float total = partial_sum[threadIdx.x];
#pragma unroll
        for (int distance = 4; distance > 0; distance /= 2) {
            total += __shfl_xor_sync(0xffffffffu, total, distance);
        }
        partial_sum[threadIdx.x] = total;
    }
    __syncthreads();

    for (long long col = threadIdx.x; col < cols; col += 256) {
        y_row[col] = __float2bfloat16(expf(__bfloat162float(x_row[col]) - row_max) / partial_sum[0]);
    }
}
