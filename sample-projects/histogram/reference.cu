/*@ lightbench(
    title: "Reference: one atomic per byte",
    steps: [
        fill(buffer: "counts", value: 0),
        launch(kernel: "histogram_reference", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// Whole numbers add up to the same in any order, so atomics are as good a reference as any.
__global__ void histogram_reference(const unsigned char* x, unsigned int* counts, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index < n) {
        atomicAdd(&counts[x[index]], 1u);
    }
}
