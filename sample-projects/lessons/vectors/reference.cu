/*@ lightbench(
    title: "Reference: one thread per byte",
    steps: [
        launch(kernel: "invert_reference", args: ["x", "y", "n"], grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

__global__ void invert_reference(const unsigned char* x, unsigned char* y, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index < n) {
        y[index] = 255 - x[index];
    }
}
