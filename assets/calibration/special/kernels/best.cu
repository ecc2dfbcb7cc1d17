/*@ lightbench(
    title: "Eight chains a thread",
    flags: [fast_math],
    steps: [launch(kernel: "steps", grid: ["n // 2048"], block: [256])],
) @*/
__global__ void steps(const float* x, float* y, long long steps) {
    const long long first = blockIdx.x * 2048LL + threadIdx.x;
    float value[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) value[k] = x[first + 256 * k];
#pragma unroll 4
    for (long long step = 0; step < steps; ++step)
#pragma unroll
        for (int k = 0; k < 8; ++k) value[k] = rsqrtf(value[k]);
#pragma unroll
    for (int k = 0; k < 8; ++k) y[first + 256 * k] = value[k];
}
