/*@ lightbench(
    title: "Reference: one thread",
    steps: [
        launch(kernel: "total_reference", args: ["x", "total", "n"], grid: [1], block: [1]),
    ],
) @*/

__global__ void total_reference(const int* x, int* total, long long n) {
    // Sums wrap around as those of the kernels do.
    unsigned sum = 0;
    for (long long i = 0; i < n; ++i) {
        sum += x[i];
    }
    *total = sum;
}
