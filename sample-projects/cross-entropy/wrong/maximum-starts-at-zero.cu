/*@ lightbench(
    title: "The maximum of negative numbers is 0",
    expect: wrong(nan),
    steps: [
        launch(kernel: "cross_entropy", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the search for the maximum starts at 0, not at a logit.
// How it shows: a row around -200 has the maximum 0, all its exponentials are zero, and the loss is minus infinity.
// Rows with one positive logit are right.

#include <cuda_bf16.h>

__global__ void cross_entropy(const __nv_bfloat16* __restrict__ logits, const int* __restrict__ labels,
                              float* __restrict__ loss, long long rows, long long classes) {
    const __nv_bfloat16* x_row = logits + blockIdx.x * classes;
    float max = 0.0f;
    for (long long col = threadIdx.x; col < classes; col += 32) {
        max = fmaxf(max, __bfloat162float(x_row[col]));
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        max = fmaxf(max, __shfl_xor_sync(0xffffffffu, max, distance));
    }
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < classes; col += 32) {
        sum += expf(__bfloat162float(x_row[col]) - max);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x == 0) {
        loss[blockIdx.x] = logf(sum) + (max - __bfloat162float(x_row[labels[blockIdx.x]]));
    }
}
