/*@ lightbench(
    title: "Reference: one thread for each prefix",
    steps: [launch(kernel: "prefix", args: ["x", "y", "n"], grid: ["ceil_div(n, 128)"], block: [128])],
) @*/

__global__ void prefix(const unsigned* x, unsigned* y, int n) {
    const int index = blockIdx.x * 128 + threadIdx.x;
    if (index < n) {
        unsigned sum = 0;
        for (int each = 0; each <= index; ++each) {
            sum += x[each];
        }
        y[index] = sum;
    }
}
