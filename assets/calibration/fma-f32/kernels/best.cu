/*@ lightbench(
    title: "Four chains a thread, 512 multiply-adds a turn",
    steps: [launch(kernel: "steps", grid: ["n // 512"], block: [128])],
) @*/
__global__ void __launch_bounds__(128) steps(const float* x, float* y, long long steps, float one) {
    const long long first = blockIdx.x * 512LL + threadIdx.x;
    const float factor = one, up = one, down = -one;
    float value[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) value[k] = x[first + 128 * k];
    // What a loop needs for itself is issued in place of multiply-adds: 5 instructions to 64 of them cost 7 %.
#pragma unroll 64
    for (int step = static_cast<int>(steps); step > 0; --step) {
#pragma unroll
        for (int k = 0; k < 4; ++k) value[k] = fmaf(value[k], factor, up);
#pragma unroll
        for (int k = 0; k < 4; ++k) value[k] = fmaf(value[k], factor, down);
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) y[first + 128 * k] = value[k];
}
