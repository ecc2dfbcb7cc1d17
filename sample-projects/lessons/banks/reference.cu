/*@ lightbench(
    title: "Reference: one thread per element of y",
    steps: [
        launch(kernel: "transpose_reference", grid: ["ceil_div(rows * cols, 256)"], block: [256]),
    ],
) @*/

__global__ void transpose_reference(const unsigned int* x, unsigned int* y, long long rows, long long cols) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index < rows * cols) {
        y[index] = x[(index % rows) * cols + index / rows];
    }
}
