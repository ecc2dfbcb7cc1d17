/*@ lightbench(
    title: "One after the other",
    steps: [launch(kernel: "steps", args: ["x", "y", "y.magnitude", "steps"], grid: ["n // 256"], block: [256])],
) @*/
__global__ void steps(const float* x, double* y, double* magnitude, long long steps) {
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    double value = x[i];
    for (long long step = 0; step < steps; ++step) value = 1.0 / sqrt(value);
    y[i] = value;
    magnitude[i] = fabs(value);
}
