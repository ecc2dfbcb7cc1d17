/*@ lightbench(
    title: "Reference: one thread per element, in f64",
    steps: [
        launch(kernel: "scale_reference", args: ["x", "y", "y.magnitude", "n", "factor"],
               grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

__global__ void scale_reference(const float* x, double* y, double* magnitude, long long n, float factor) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index < n) {
        const double result = static_cast<double>(factor) * x[index];
        y[index] = result;
        magnitude[index] = fabs(result);
    }
}
