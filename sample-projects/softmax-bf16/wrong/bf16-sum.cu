/*@ lightbench(
    title: "Adds the exponentials in bf16",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the sum has the type of the data. With eight significant bits, a sum of 4 swallows every
// further term below 1/64 whole.
// How it shows: rows that add up to a little more or less than one, the more so the longer they are.

#include <cuda_bf16.h>

__global__ void softmax(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, long long rows,
                        long long cols) {
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;
    float row_max = __bfloat162float(x_row[0]);
    for (long long col = threadIdx.x; col < cols; col += 32) {
        row_max = fmaxf(row_max, __bfloat162float(x_row[col]));
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        row_max = fmaxf(row_max, __shfl_xor_sync(0xffffffffu, row_max, distance));
    }
    __nv_bfloat16 sum = __float2bfloat16(0.0f);
    for (long long col = threadIdx.x; col < cols; col += 32) {
        sum = __hadd(sum, __float2bfloat16(expf(__bfloat162float(x_row[col]) - row_max)));
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum = __hadd(sum, __shfl_xor_sync(0xffffffffu, sum, distance));
    }
    for (long long col = threadIdx.x; col < cols; col += 32) {
        y_row[col] = __float2bfloat16(expf(__bfloat162float(x_row[col]) - row_max) / __bfloat162float(sum));
    }
}
