/*@ lightbench(
    title: "Reference: one thread per element, in f64",
    steps: [
        launch(kernel: "bias_reference", args: ["x", "bias", "y", "y.magnitude", "rows", "cols"],
               grid: ["ceil_div(cols, 256)", "rows"], block: [256]),
    ],
) @*/

__global__ void bias_reference(const float* x, const float* bias, double* y, double* magnitude, int rows, int cols) {
    const int col = blockIdx.x * 256 + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const long long at = blockIdx.y * static_cast<long long>(cols) + col;
    y[at] = static_cast<double>(x[at]) + bias[col];
    magnitude[at] = fabs(static_cast<double>(x[at])) + fabs(static_cast<double>(bias[col]));
}
