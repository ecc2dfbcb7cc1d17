/*@ lightbench(
    title: "One thread per element of c",
    steps: [
        launch(kernel: "grouped_gemm", grid: ["ceil_div(n, 32)", "ceil_div(tokens, 8)"], block: [32, 8]),
    ],
) @*/

// The starting point: every thread looks for the group of its row, and reads a row of a and a row of that group's b.

#include <cuda_bf16.h>

__global__ void __launch_bounds__(256)
grouped_gemm(const __nv_bfloat16* __restrict__ a, const int* __restrict__ offsets, const __nv_bfloat16* __restrict__ b,
             __nv_bfloat16* __restrict__ c, int tokens, int groups, int n, int k) {
    const int column = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row >= tokens || column >= n) {
        return;
    }
    int group = 0;
    while (row >= offsets[group + 1]) {
        ++group;
    }
    const __nv_bfloat162* const left = reinterpret_cast<const __nv_bfloat162*>(a + static_cast<long long>(row) * k);
    const __nv_bfloat162* const right =
        reinterpret_cast<const __nv_bfloat162*>(b + (static_cast<long long>(group) * n + column) * k);
    float sum = 0.0f;
    for (int index = 0; index < k / 2; ++index) {
        const float2 x = __bfloat1622float2(left[index]);
        const float2 y = __bfloat1622float2(right[index]);
        sum += x.x * y.x + x.y * y.y;
    }
    c[static_cast<long long>(row) * n + column] = __float2bfloat16(sum);
}
