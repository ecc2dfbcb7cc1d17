/*@ lightbench(
    title: "Online, without scaling the sum down",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "cross_entropy", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: when a new maximum is found, the sum so far is still relative to the old one.
// How it shows: the loss is too large, unless the maximum happens to come first. Sorted logits hide it.

#include <cuda_bf16.h>

__global__ void cross_entropy(const __nv_bfloat16* __restrict__ logits, const int* __restrict__ labels,
                              float* __restrict__ loss, long long rows, long long classes) {
    const __nv_bfloat16* x_row = logits + blockIdx.x * classes;
    float max = __bfloat162float(x_row[0]);
    float sum = 0.0f;
    for (long long col = 0; col < classes; ++col) {
        max = fmaxf(max, __bfloat162float(x_row[col]));
        sum += expf(__bfloat162float(x_row[col]) - max);
    }
    if (threadIdx.x == 0) {
        loss[blockIdx.x] = logf(sum) + (max - __bfloat162float(x_row[labels[blockIdx.x]]));
    }
}
