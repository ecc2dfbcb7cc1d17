/*@ lightbench(
    title: "One thread an element",
    steps: [launch(kernel: "product", args: ["a", "b", "y", "y.magnitude", "steps"], grid: ["warps"], block: [256])],
) @*/
#include <cuda_fp16.h>

__global__ void product(const __half* a, const __half* b, double* y, double* magnitude, long long steps) {
    const int row = threadIdx.x / 16, col = threadIdx.x % 16;
    double sum = 0, size = 0;
    for (int k = 0; k < 16; ++k) {
        const double term = (double)(__half2float(a[row * 16 + k])) * (double)(__half2float(b[k * 16 + col]));
        sum += term;
        size += fabs(term);
    }
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    // Four accumulators, and what each of them holds is added in the end.
    y[i] = 4.0 * steps * sum;
    magnitude[i] = 4.0 * steps * size;
}
