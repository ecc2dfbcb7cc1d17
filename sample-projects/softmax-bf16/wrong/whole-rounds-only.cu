/*@ lightbench(
    title: "Writes whole rounds of 32 columns only",
    expect: wrong(unwritten),
    steps: [
        launch(kernel: "softmax", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the maximum and the sum run over the whole row; the last loop counts `cols / 32` rounds so
// that it can be unrolled, and leaves the rest of the row out.
// How it shows: up to 31 elements at the end of each row keep what was there before.

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
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        sum += expf(__bfloat162float(x_row[col]) - row_max);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
#pragma unroll 4
    for (long long round = 0; round < cols / 32; ++round) {
        const long long col = 32 * round + threadIdx.x;
        y_row[col] = __float2bfloat16(expf(__bfloat162float(x_row[col]) - row_max) / sum);
    }
}
