/*@ lightbench(
    title: "One thread an element",
    steps: [launch(kernel: "product", args: ["a", "b", "y", "y.magnitude", "steps"], grid: ["warps"], block: [256])],
) @*/
__global__ void product(const float* a, const float* b, double* y, double* magnitude, long long steps) {
    const int row = threadIdx.x / 16, col = threadIdx.x % 16;
    double sum = 0, size = 0;
    for (int k = 0; k < 8; ++k) {
        const double term = (double)(a[row * 8 + k]) * (double)(b[k * 16 + col]);
        sum += term;
        size += fabs(term);
    }
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    // Four accumulators, and what each of them holds is added in the end.
    y[i] = 4.0 * steps * sum;
    magnitude[i] = 4.0 * steps * size;
}
