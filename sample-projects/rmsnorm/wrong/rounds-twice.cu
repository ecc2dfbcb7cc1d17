/*@ lightbench(
    title: "Rounds to bf16 before the weight",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "rmsnorm", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the normalised value is rounded to bf16, multiplied by the weight in bf16 and rounded
// again, as some model code does (`weight * hidden.to(dtype)`). This project defines the result as
// rounded once.
// How it shows: about a quarter of the elements are one bf16 step away. Whether that is a mistake is a
// matter of definition; what is not acceptable is a comparison that cannot tell.

#include <cuda_bf16.h>

__global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                        __nv_bfloat16* __restrict__ y, long long rows, long long cols, float eps) {
    const __nv_bfloat16* x_row = x + blockIdx.x * cols;
    __nv_bfloat16* y_row = y + blockIdx.x * cols;
    float sum_of_squares = 0.0f;
    for (long long col = threadIdx.x; col < cols; col += 32) {
        const float value = __bfloat162float(x_row[col]);
        sum_of_squares += value * value;
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum_of_squares += __shfl_xor_sync(0xffffffffu, sum_of_squares, distance);
    }
    const float scale = rsqrtf(sum_of_squares / static_cast<float>(cols) + eps);
    for (long long col = threadIdx.x; col < cols; col += 32) {
        const __nv_bfloat16 normalised = __float2bfloat16(__bfloat162float(x_row[col]) * scale);
        y_row[col] = __hmul(normalised, w[col]);
    }
}
