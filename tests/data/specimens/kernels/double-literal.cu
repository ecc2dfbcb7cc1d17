/*@ lightbench(
    title: "A literal without f",
    steps: [launch(kernel: "scale", grid: ["ceil_div(n, 256)"], block: [256])],
) @*/
__global__ void scale(const float* __restrict__ x, float* __restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        y[i] = 2.1 * x[i];
    }
}
