/*@ lightbench(
    title: "One thread per row",
    params: { "BLOCK": [64, 32, 128, 256] },
    steps: [
        launch(kernel: "rmsnorm<PARAM_BLOCK>", grid: ["ceil_div(rows, BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

// The formula written down: what a first port from the CPU looks like. The 32 threads of a warp stand
// in 32 different rows, so each 2-byte load of a warp touches 32 different lines.

#include <cuda_bf16.h>

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y,
        long long rows, long long cols, float eps) {
    const long long row = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const __nv_bfloat16* x_row = x + row * cols;
    __nv_bfloat16* y_row = y + row * cols;

    // Compensated (Kahan) summation. One plain chain of additions would lose every small square that comes
    // after a large one; the trees of the faster kernels do not have this problem.
    float sum_of_squares = 0.0f;
    float lost = 0.0f;
    for (long long col = 0; col < cols; ++col) {
        const float value = __bfloat162float(x_row[col]);
        const float term = value * value - lost;
        const float next = sum_of_squares + term;
        lost = (next - sum_of_squares) - term;
        sum_of_squares = next;
    }
    const float scale = rsqrtf(sum_of_squares / static_cast<float>(cols) + eps);

    for (long long col = 0; col < cols; ++col) {
        y_row[col] = __float2bfloat16(__bfloat162float(x_row[col]) * scale * __bfloat162float(w[col]));
    }
}
