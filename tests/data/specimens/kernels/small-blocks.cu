/*@ lightbench(
    title: "Blocks of one warp",
    steps: [launch(kernel: "scale", grid: ["ceil_div(n, 32)"], block: [32])],
) @*/
__global__ void scale(const float* __restrict__ x, float* __restrict__ y, int n) {
    const int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) {
        y[i] = 2.0f * x[i];
    }
}
