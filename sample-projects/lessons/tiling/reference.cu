/*@ lightbench(
    title: "Reference: one thread per element, in f64",
    steps: [
        launch(kernel: "product_reference", args: ["a", "b", "c", "c.magnitude", "n"],
               grid: ["ceil_div(n, 16)", "ceil_div(n, 16)"], block: [16, 16]),
    ],
) @*/

__global__ void product_reference(const float* a, const float* b, double* c, double* magnitude, int n) {
    const int row = blockIdx.y * 16 + threadIdx.y;
    const int col = blockIdx.x * 16 + threadIdx.x;
    if (row >= n || col >= n) {
        return;
    }
    double sum = 0.0;
    double absolute = 0.0;
    for (int k = 0; k < n; ++k) {
        const double product = static_cast<double>(a[row * static_cast<long long>(n) + k]) * b[k * static_cast<long long>(n) + col];
        sum += product;
        absolute += fabs(product);
    }
    c[row * static_cast<long long>(n) + col] = sum;
    magnitude[row * static_cast<long long>(n) + col] = absolute;
}
