/*@ lightbench(
    title: "Adds the exponentials in bf16",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "cross_entropy", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the sum has the type of the data. With eight significant bits, a sum of 4 swallows every further term
// below 1/64 whole.
// How it shows: the logarithm hides most of it: two per cent of the sum are 0.02 of a loss around 7.

#include <cuda_bf16.h>

__global__ void cross_entropy(const __nv_bfloat16* __restrict__ logits, const int* __restrict__ labels,
                              float* __restrict__ loss, long long rows, long long classes) {
    const __nv_bfloat16* x_row = logits + blockIdx.x * classes;
    float max = __bfloat162float(x_row[0]);
    for (long long col = threadIdx.x; col < classes; col += 32) {
        max = fmaxf(max, __bfloat162float(x_row[col]));
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, distance));
    }
    __nv_bfloat16 sum = __float2bfloat16(0.0f);
    for (long long col = threadIdx.x; col < classes; col += 32) {
        sum = __hadd(sum, __float2bfloat16(expf(__bfloat162float(x_row[col]) - max)));
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum = __hadd(sum, __shfl_xor_sync(0xffffffffu, sum, distance));
    }
    if (threadIdx.x == 0) {
        loss[blockIdx.x] = logf(__bfloat162float(sum)) + (max - __bfloat162float(x_row[labels[blockIdx.x]]));
    }
}
