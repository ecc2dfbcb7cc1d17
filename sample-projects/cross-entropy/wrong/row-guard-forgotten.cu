/*@ lightbench(
    title: "Four rows per block, and no test for the last",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "cross_entropy", grid: ["ceil_div(rows, 4)"], block: [32, 4]),
    ],
) @*/

// The mistake: a block takes four rows, and the last block takes them too.
// How it shows: it reads beyond the logits and the labels and writes beyond the losses. Batches are usually multiples
// of four.

#include <cuda_bf16.h>

__global__ void cross_entropy(const __nv_bfloat16* __restrict__ logits, const int* __restrict__ labels,
                              float* __restrict__ loss, long long rows, long long classes) {
    const long long row = 4LL * blockIdx.x + threadIdx.y;
    const __nv_bfloat16* x_row = logits + row * classes;
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
        loss[row] = logf(sum) + (max - __bfloat162float(x_row[labels[row]]));
    }
}
