/*@ lightbench(
    title: "Four chains a thread, small blocks that come out even",
    flags: [fast_math],
    steps: [launch(kernel: "steps", grid: ["n // 256"], block: [64])],
) @*/
__global__ void steps(const float* x, float* y, long long steps) {
    const long long first = blockIdx.x * 256LL + threadIdx.x;
    float value[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) value[k] = x[first + 64 * k];
#pragma unroll 16
    for (int step = static_cast<int>(steps); step > 0; --step)
#pragma unroll
        for (int k = 0; k < 4; ++k) value[k] = rsqrtf(value[k]);
#pragma unroll
    for (int k = 0; k < 4; ++k) y[first + 64 * k] = value[k];
}
