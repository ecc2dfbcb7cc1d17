/*@ lightbench(
    title: "Reference: one thread",
    steps: [launch(kernel: "sum", args: ["x", "y", "n"], grid: [1], block: [1])],
) @*/

__global__ void sum(const unsigned* x, unsigned* y, int n) {
    unsigned all = 0;
    for (int index = 0; index < n; ++index) {
        all += x[index];
    }
    *y = all;
}
