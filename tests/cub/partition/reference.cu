/*@ lightbench(
    title: "Reference: each thread counts the even elements before its own",
    steps: [launch(kernel: "partition", args: ["x", "y", "n"], grid: ["ceil_div(n, 128)"], block: [128])],
) @*/

// The even elements in their order, then the odd ones in reverse order.
__global__ void partition(const unsigned* x, unsigned* y, int n) {
    const int index = blockIdx.x * 128 + threadIdx.x;
    if (index < n) {
        int even = 0;
        for (int other = 0; other < index; ++other) {
            even += x[other] % 2 == 0;
        }
        y[x[index] % 2 == 0 ? even : n - 1 - (index - even)] = x[index];
    }
}
