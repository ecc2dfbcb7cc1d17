/*@ lightbench(
    title: "Reads pairs from rows that begin anywhere",
    expect: fault(misaligned),
    steps: [
        launch(kernel: "cross_entropy", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: two bf16 a load, from the beginning of each row. Rows of 50,257 begin at an odd multiple of two bytes
// every other time.
// How it shows: `misaligned address` in row 1, unless the vocabulary is even. GPT-2 has an odd one.

#include <cuda_bf16.h>

__global__ void cross_entropy(const __nv_bfloat16* __restrict__ logits, const int* __restrict__ labels,
                              float* __restrict__ loss, long long rows, long long classes) {
    const __nv_bfloat16* x_row = logits + blockIdx.x * classes;
    const __nv_bfloat162* pairs = reinterpret_cast<const __nv_bfloat162*>(x_row);
    float max = __bfloat162float(x_row[0]);
    for (long long col = threadIdx.x; col < classes; col += 32) {
        max = fmaxf(max, __bfloat162float(x_row[col]));
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, distance));
    }
    float sum = 0.0f;
    for (long long pair = threadIdx.x; pair < classes / 2; pair += 32) {
        const float2 values = __bfloat1622float2(pairs[pair]);
        sum += expf(values.x - max) + expf(values.y - max);
    }
    if (threadIdx.x == 0 && classes % 2 != 0) {
        sum += expf(__bfloat162float(x_row[classes - 1]) - max);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x == 0) {
        loss[blockIdx.x] = logf(sum) + (max - __bfloat162float(x_row[labels[blockIdx.x]]));
    }
}
