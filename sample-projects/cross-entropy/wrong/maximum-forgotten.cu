/*@ lightbench(
    title: "Adds up exp(x) as it is",
    expect: wrong(nan),
    steps: [
        launch(kernel: "cross_entropy", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: log(sum(exp(x))) - x[label], without subtracting the maximum.
// How it shows: exp(89) is infinite in f32, so one logit above 88 makes the loss infinite. At the beginning of a
// training run there is none.

#include <cuda_bf16.h>

__global__ void cross_entropy(const __nv_bfloat16* __restrict__ logits, const int* __restrict__ labels,
                              float* __restrict__ loss, long long rows, long long classes) {
    const __nv_bfloat16* x_row = logits + blockIdx.x * classes;
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < classes; col += 32) {
        sum += expf(__bfloat162float(x_row[col]));
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x == 0) {
        loss[blockIdx.x] = logf(sum) - __bfloat162float(x_row[labels[blockIdx.x]]);
    }
}
