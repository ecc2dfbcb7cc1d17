/*@ lightbench(
    title: "Four chains a thread, small blocks that come out even",
    steps: [launch(kernel: "steps", grid: ["n // 256"], block: [64])],
) @*/
__global__ void steps(const double* x, double* y, long long steps, double one) {
    const long long first = blockIdx.x * 256LL + threadIdx.x;
    const double factor = one, up = one, down = -one;
    double value[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) value[k] = x[first + 64 * k];
#pragma unroll 16
    for (int step = static_cast<int>(steps); step > 0; --step) {
#pragma unroll
        for (int k = 0; k < 4; ++k) value[k] = fma(value[k], factor, up);
#pragma unroll
        for (int k = 0; k < 4; ++k) value[k] = fma(value[k], factor, down);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) y[first + 64 * k] = value[k];
}
