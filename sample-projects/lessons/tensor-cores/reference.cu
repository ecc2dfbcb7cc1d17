/*@ lightbench(
    title: "Reference: one thread per element, in f64",
    steps: [
        launch(kernel: "product_reference", args: ["a", "b", "c", "c.magnitude", "n"],
               grid: ["n / 16", "n / 16"], block: [16, 16]),
    ],
) @*/
#include <cuda_fp16.h>

__global__ void product_reference(const __half* a, const __half* b, double* c, double* magnitude, int n) {
    const int row = blockIdx.y * 16 + threadIdx.y;
    const int col = blockIdx.x * 16 + threadIdx.x;
    double sum = 0.0;
    double absolute = 0.0;
    for (int k = 0; k < n; ++k) {
        const double left = __half2float(a[row * static_cast<long long>(n) + k]);
        const double right = __half2float(b[k * static_cast<long long>(n) + col]);
        sum += left * right;
        absolute += fabs(left * right);
    }
    c[row * static_cast<long long>(n) + col] = sum;
    magnitude[row * static_cast<long long>(n) + col] = absolute;
}
