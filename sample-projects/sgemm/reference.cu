/*@ lightbench(
    title: "Reference: one thread per element of c, in f64",
    steps: [
        launch(kernel: "sgemm_reference", args: ["a", "b", "c", "c.magnitude", "m", "n", "k"],
               grid: ["ceil_div(n, 32)", "ceil_div(m, 4)"], block: [32, 4]),
    ],
) @*/

// Products of floats are exact in f64. The magnitude is the sum of their absolute values: with it, an element in
// which large terms cancel is not held to the precision of what happens to be left.
__global__ void sgemm_reference(const float* a, const float* b, double* c, double* magnitude, int m, int n, int k) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 4 + threadIdx.y;
    if (row >= m || col >= n) {
        return;
    }
    double sum = 0.0;
    double absolute = 0.0;
    for (int index = 0; index < k; ++index) {
        const double term = static_cast<double>(a[static_cast<long long>(row) * k + index]) *
                            static_cast<double>(b[static_cast<long long>(index) * n + col]);
        sum += term;
        absolute += fabs(term);
    }
    c[static_cast<long long>(row) * n + col] = sum;
    magnitude[static_cast<long long>(row) * n + col] = absolute;
}
