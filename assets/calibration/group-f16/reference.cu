/*@ lightbench(
    title: "One thread a column",
    steps: [launch(kernel: "product", args: ["a", "b", "y", "y.magnitude", "steps"], grid: ["groups", "64"], block: [256])],
) @*/
#include <cuda_fp16.h>

__global__ void product(const __half* a, const __half* b, double* y, double* magnitude, long long steps) {
    const int row = blockIdx.y, col = threadIdx.x;
    double sum = 0, size = 0;
    for (int k = 0; k < 16; ++k) {
        const double term = (double)(__half2float(a[row * 16 + k])) * (double)(__half2float(b[k * 256 + col]));
        sum += term;
        size += fabs(term);
    }
    const long long i = (blockIdx.x * 64LL + row) * 256 + col;
    // Eight products a step.
    y[i] = 8.0 * steps * sum;
    magnitude[i] = 8.0 * steps * size;
}
