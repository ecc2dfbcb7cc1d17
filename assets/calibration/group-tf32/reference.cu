/*@ lightbench(
    title: "One thread a column",
    steps: [launch(kernel: "product", args: ["a", "b", "y", "y.magnitude", "steps"], grid: ["groups", "64"], block: [256])],
) @*/
__global__ void product(const float* a, const float* b, double* y, double* magnitude, long long steps) {
    const int row = blockIdx.y, col = threadIdx.x;
    double sum = 0, size = 0;
    for (int k = 0; k < 8; ++k) {
        const double term = (double)(a[row * 8 + k]) * (double)(b[k * 256 + col]);
        sum += term;
        size += fabs(term);
    }
    const long long i = (blockIdx.x * 64LL + row) * 256 + col;
    // Eight products a step.
    y[i] = 8.0 * steps * sum;
    magnitude[i] = 8.0 * steps * size;
}
