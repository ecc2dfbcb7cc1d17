/*@ lightbench(
    title: "Eight chains of pairs a thread",
    steps: [launch(kernel: "steps", grid: ["n // 2048"], block: [128])],
) @*/
#include <cuda_fp16.h>

__global__ void steps(const __half* x, __half* y, long long steps, float one) {
    const long long first = blockIdx.x * 1024LL + threadIdx.x;
    const __half2* from = reinterpret_cast<const __half2*>(x);
    __half2* to = reinterpret_cast<__half2*>(y);
    const __half2 factor = __float2half2_rn(one), up = factor, down = __hneg2(up);
    __half2 value[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) value[k] = from[first + 128 * k];
#pragma unroll 4
    for (long long step = 0; step < steps; ++step) {
#pragma unroll
        for (int k = 0; k < 8; ++k) value[k] = __hfma2(value[k], factor, up);
#pragma unroll
        for (int k = 0; k < 8; ++k) value[k] = __hfma2(value[k], factor, down);
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) to[first + 128 * k] = value[k];
}
