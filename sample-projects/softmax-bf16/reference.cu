/*@ lightbench(
    title: "Reference: one thread per row, three passes, in f64",
    steps: [
        launch(kernel: "softmax_reference", args: ["x", "y", "y.magnitude", "rows", "cols"],
               grid: ["ceil_div(rows, 64)"], block: [64]),
    ],
) @*/

#include <cuda_bf16.h>

__device__ double value_at(const __nv_bfloat16* x, long long index) {
    return static_cast<double>(__bfloat162float(x[index]));
}

// exp(x - max) is only as good as its argument: a relative error u in the difference d = x - max changes
// the result by |d| * u. So the terms of an element are itself and d times itself.
//
// The last term of the magnitude makes room for one smallest normal f32 (2^-126, seen through the unit
// roundoff 2^-24): below it a GPU may flush to zero, and no probability that small means anything.
__global__ void softmax_reference(const __nv_bfloat16* x, double* y, double* magnitude, long long rows,
                                  long long cols) {
    const long long row = blockIdx.x * 64LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    double row_max = value_at(x, row * cols);
    for (long long col = 1; col < cols; ++col) {
        row_max = fmax(row_max, value_at(x, row * cols + col));
    }
    double sum = 0.0;
    for (long long col = 0; col < cols; ++col) {
        sum += exp(value_at(x, row * cols + col) - row_max);
    }
    for (long long col = 0; col < cols; ++col) {
        const double difference = value_at(x, row * cols + col) - row_max;
        const double result = exp(difference) / sum;
        y[row * cols + col] = result;
        magnitude[row * cols + col] = result * (1.0 + fabs(difference)) + 0x1p-102;
    }
}
