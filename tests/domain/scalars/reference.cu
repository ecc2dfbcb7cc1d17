/*@ lightbench(
    title: "Reference: one thread for each element, in f64",
    steps: [
        launch(kernel: "rotate", args: ["x", "y", "y.magnitude", "n: i64", "offset: i32", "scale: f32"],
               grid: ["ceil_div(n, 64)"], block: [64]),
    ],
) @*/

__global__ void rotate(const float* x, double* y, double* magnitude, long long n, int offset, float scale) {
    const long long index = blockIdx.x * 64LL + threadIdx.x;
    if (index >= n) {
        return;
    }
    const long long from = ((index + offset) % n + n) % n;
    const double value = static_cast<double>(scale) * static_cast<double>(x[from]);
    y[index] = value;
    magnitude[index] = fabs(value);
}
