/*@ lightbench(
    title: "Reference",
    steps: [launch(kernel: "reference", args: ["x", "y", "y.magnitude", "n: i32"], grid: ["ceil_div(n, 256)"], block: [256])],
) @*/
__global__ void reference(const float* x, double* y, double* magnitude, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        y[i] = 2.0 * x[i];
        magnitude[i] = fabs(y[i]);
    }
}
