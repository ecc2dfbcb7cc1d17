/*@ lightbench(
    title: "Reads labels of 64 bits",
    expect: refused(arguments),
    steps: [
        launch(kernel: "cross_entropy", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: PyTorch hands over labels of 64 bits, this project of 32. A pointer is a pointer to the driver.
// How it shows: before anything runs. The compiled symbol says `const long long*`, and labels hold i32. If it ran, it
// would take two labels for one, and leave the row.

#include <cuda_bf16.h>

__global__ void cross_entropy(const __nv_bfloat16* __restrict__ logits, const long long* __restrict__ labels,
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
        loss[blockIdx.x] = logf(sum) + (max - __bfloat162float(x_row[labels[blockIdx.x]]));
    }
}
