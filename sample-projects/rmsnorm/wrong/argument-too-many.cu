/*@ lightbench(
    title: "Declares one argument more than it is given",
    expect: refused(arguments),
    steps: [
        launch(kernel: "rmsnorm", grid: ["rows"], block: [32]),
    ],
) @*/

// The mistake: the kernel was copied from a fused version that also adds a residual; its launch was not.
// How it shows: the parameter list of the compiled kernel is compared with the arguments before the
// first launch. Without that, the driver would copy whatever lies behind the host's last argument and
// the kernel would use it as a pointer.

#include <cuda_bf16.h>

__global__ void rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w,
                        __nv_bfloat16* __restrict__ y, long long rows, long long cols, float eps,
                        const __nv_bfloat16* __restrict__ residual) {
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
        float value = __bfloat162float(x_row[col]) * scale * __bfloat162float(w[col]);
        if (residual != nullptr) {
            value += __bfloat162float(residual[blockIdx.x * cols + col]);
        }
        y_row[col] = __float2bfloat16(value);
    }
}
