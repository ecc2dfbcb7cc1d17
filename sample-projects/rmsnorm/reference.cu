/*@ lightbench(
    title: "Reference: one thread per row, in f64",
    steps: [
        launch(kernel: "rmsnorm_reference", args: ["x", "w", "y", "y.magnitude", "rows", "cols", "eps"],
               grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

#include <cuda_bf16.h>

// The squares are all positive, so nothing cancels in the sum, and each element is one product: its
// magnitude is its own absolute value.
__global__ void rmsnorm_reference(const __nv_bfloat16* x, const __nv_bfloat16* w, double* y, double* magnitude,
                                  long long rows, long long cols, float eps) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    double sum_of_squares = 0.0;
    for (long long col = 0; col < cols; ++col) {
        const double value = __bfloat162float(x[row * cols + col]);
        sum_of_squares += value * value;
    }
    const double root_mean_square = sqrt(sum_of_squares / static_cast<double>(cols) + static_cast<double>(eps));
    for (long long col = 0; col < cols; ++col) {
        const double value = __bfloat162float(x[row * cols + col]);
        const double weight = __bfloat162float(w[col]);
        const double result = value / root_mean_square * weight;
        y[row * cols + col] = result;
        magnitude[row * cols + col] = fabs(result);
    }
}
