/*@ lightbench(
    title: "Reference: one thread for each element, in f64",
    steps: [
        launch(kernel: "multiply", args: ["x", "w", "y", "y.magnitude", "n: i64"], grid: ["ceil_div(n, 64)"], block: [64]),
    ],
) @*/

__global__ void multiply(const float* x, const float* w, double* y, double* magnitude, long long n) {
    const long long index = blockIdx.x * 64LL + threadIdx.x;
    if (index >= n) {
        return;
    }
    const double value = static_cast<double>(x[index]) * static_cast<double>(w[index]);
    y[index] = value;
    magnitude[index] = fabs(value);
}
