/*@ lightbench(
    title: "Uses the scales before they are computed",
    expect: fault(uninitialized_read),
    scratch: [(name: "scale", dtype: f32, shape: ["rows"], init: undefined)],
    steps: [
        launch(kernel: "apply_scale", args: ["x", "w", "y", "cols", "scale"], grid: ["rows"], block: [128]),
        launch(kernel: "compute_scale", args: ["x", "cols", "eps", "scale"], grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: two kernels, and their launches in the wrong order.
// How it shows: in a loop over the same data only the first iteration is wrong, because the scratch
// memory still holds the scales of the last one. Scratch memory that is poisoned before each launch
// makes every iteration the first.

#include <cuda_bf16.h>

__global__ void compute_scale(const __nv_bfloat16* __restrict__ x, long long cols, float eps,
                              float* __restrict__ scale) {
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    float sum_of_squares = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        const float value = __bfloat162float(x_row[col]);
        sum_of_squares += value * value;
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum_of_squares += __shfl_xor_sync(0xffffffffu, sum_of_squares, distance);
    }
    if (threadIdx.x == 0) {
        scale[blockIdx.x] = rsqrtf(sum_of_squares / static_cast<float>(cols) + eps);
    }
}

__global__ void apply_scale(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                            __nv_bfloat16* __restrict__ y, long long cols, const float* __restrict__ scale) {
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;
    for (long long col = threadIdx.x; col < cols; col += 128) {
        y_row[col] = __float2bfloat16(__bfloat162float(x_row[col]) * scale[blockIdx.x] * __bfloat162float(w[col]));
    }
}
