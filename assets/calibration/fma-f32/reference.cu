/*@ lightbench(
    title: "What is left after all steps",
    steps: [launch(kernel: "steps", args: ["x", "y", "y.magnitude"], grid: ["n // 256"], block: [256])],
) @*/
__global__ void steps(const float* x, double* y, double* magnitude) {
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    y[i] = (double)(x[i]);
    // The first addition of one rounds.
    magnitude[i] = fabs(y[i]) + 1;
}
