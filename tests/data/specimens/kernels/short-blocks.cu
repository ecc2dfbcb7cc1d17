/*@ lightbench(
    title: "Very many blocks with very little to do",
    steps: [launch(kernel: "scale", grid: ["ceil_div(n, 64)"], block: [64])],
) @*/
__global__ void scale(const float* __restrict__ x, float* __restrict__ y, int n) {
    const int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) {
        y[i] = 2.0f * x[i];
    }
}
