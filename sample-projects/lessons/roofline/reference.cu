/*@ lightbench(
    title: "Reference: one thread per element, in f64",
    steps: [
        launch(kernel: "polynomial_reference", args: ["x", "y", "y.magnitude", "n", "degree: i32"],
               grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

__global__ void polynomial_reference(const float* x, double* y, double* magnitude, long long n, int degree) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index >= n) {
        return;
    }
    // 1 + x / 2 + (x / 2)^2 + ...
    const double half = 0.5 * x[index];
    double sum = 1.0;
    double absolute = 1.0;
    for (int power = 0; power < degree; ++power) {
        sum = sum * half + 1.0;
        absolute = absolute * fabs(half) + 1.0;
    }
    y[index] = sum;
    magnitude[index] = absolute;
}
