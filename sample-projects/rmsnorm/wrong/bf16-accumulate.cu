/*@ lightbench(
    title: "Accumulates in bf16",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "rmsnorm", grid: ["rows"], block: [256]),
    ],
) @*/

// The mistake: the squares are added in the type of the data. A bf16 has eight significant bits, so a
// sum of 32 squares is already off by a percent.
// How it shows: every element of a row is wrong by the same small factor, which is about as large as the
// rounding of the output itself. Against a tolerance of 'a few bf16 steps' it passes.

#include <cuda_bf16.h>

__global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                        __nv_bfloat16* __restrict__ y, long long rows, long long cols, float eps) {
    __shared__ __nv_bfloat16 partial[256];
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;

    __nv_bfloat16 sum_of_squares = __float2bfloat16(0.0f);
    for (long long col = threadIdx.x; col < cols; col += 256) {
        sum_of_squares = __hadd(sum_of_squares, __hmul(x_row[col], x_row[col]));
    }
    partial[threadIdx.x] = sum_of_squares;
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) {
        if (threadIdx.x < stride) {
            partial[threadIdx.x] = __hadd(partial[threadIdx.x], partial[threadIdx.x + stride]);
        }
        __syncthreads();
    }
    const float scale = rsqrtf(__bfloat162float(partial[0]) / static_cast<float>(cols) + eps);
    for (long long col = threadIdx.x; col < cols; col += 256) {
        y_row[col] = __float2bfloat16(__bfloat162float(x_row[col]) * scale * __bfloat162float(w[col]));
    }
}
