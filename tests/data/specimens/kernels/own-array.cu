/*@ lightbench(
    title: "An array of the thread's own, indexed by a variable",
    steps: [launch(kernel: "pick", grid: ["ceil_div(n, 256)"], block: [256])],
) @*/
__global__ void pick(const float* __restrict__ x, float* __restrict__ y, int n) {
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) {
        return;
    }
    const float value = x[i];
    float powers[8];
    powers[0] = value;
    for (int k = 1; k < 8; ++k) {
        powers[k] = powers[k - 1] * value;
    }
    y[i] = powers[static_cast<int>(fabsf(value) * 4.0f) & 7];
}
