/*@ lightbench(
    title: "Takes the logarithm of a probability",
    expect: wrong(nan),
    steps: [
        launch(kernel: "cross_entropy", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: softmax first, then the logarithm of one of its elements. A logit 104 below the maximum has the
// probability zero in f32, and the logarithm of zero is minus infinity.
// How it shows: where the model is very sure and wrong: the very rows that training is about.

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
    float sum = 0.0f;
    for (long long col = threadIdx.x; col < classes; col += 32) {
        sum += expf(__bfloat162float(x_row[col]) - max);
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x == 0) {
        const float probability = expf(__bfloat162float(x_row[labels[blockIdx.x]]) - max) / sum;
        loss[blockIdx.x] = -logf(probability);
    }
}
