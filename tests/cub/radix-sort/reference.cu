/*@ lightbench(
    title: "Reference: each thread counts the smaller elements",
    steps: [launch(kernel: "sort", args: ["x", "y", "n"], grid: ["ceil_div(n, 128)"], block: [128])],
) @*/

__global__ void sort(const unsigned* x, unsigned* y, int n) {
    const int index = blockIdx.x * 128 + threadIdx.x;
    if (index < n) {
        int before = 0;
        for (int other = 0; other < n; ++other) {
            before += x[other] < x[index] || (x[other] == x[index] && other < index);
        }
        y[before] = x[index];
    }
}
