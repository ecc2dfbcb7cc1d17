/*@ lightbench(
    title: "Reference: one thread per element, in f64",
    steps: [
        launch(kernel: "smooth_reference", args: ["x", "y", "y.magnitude", "n"],
               grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

__global__ void smooth_reference(const float* x, double* y, double* magnitude, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index >= n) {
        return;
    }
    const double left = index > 0 ? x[index - 1] : 0.0;
    const double right = index + 1 < n ? x[index + 1] : 0.0;
    y[index] = (left + x[index] + right) / 3.0;
    magnitude[index] = (fabs(left) + fabs(static_cast<double>(x[index])) + fabs(right)) / 3.0;
}
