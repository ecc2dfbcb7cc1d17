/*@ lightbench(
    title: "One thread per element of c",
    steps: [
        launch(kernel: "fp8_gemm", grid: ["ceil_div(n, 32)", "ceil_div(m, 8)"], block: [32, 8]),
    ],
) @*/

// The starting point: every thread reads a row of a and a row of b, four numbers at a time, and multiplies the sum of
// 128 products by their two scales.

#include <cuda_fp8.h>

__device__ __forceinline__ float4 widen(unsigned four) {
    __nv_fp8x4_e4m3 values;
    values.__x = four;
    return static_cast<float4>(values);
}

__global__ void __launch_bounds__(256)
fp8_gemm(const __nv_fp8_e4m3* __restrict__ a, const float* __restrict__ a_scale, const __nv_fp8_e4m3* __restrict__ b,
         const float* __restrict__ b_scale, __nv_bfloat16* __restrict__ c, int m, int n, int k) {
    const int column = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * 8 + threadIdx.y;
    if (row >= m || column >= n) {
        return;
    }
    const unsigned* const left = reinterpret_cast<const unsigned*>(a + static_cast<long long>(row) * k);
    const unsigned* const right = reinterpret_cast<const unsigned*>(b + static_cast<long long>(column) * k);
    const int blocks = (k + 127) / 128;
    const long long scales_of_block = (m + 3) / 4 * 4;
    float total = 0.0f;
    for (int block = 0; block < blocks; ++block) {
        float sum = 0.0f;
        for (int index = block * 32; index < min(k / 4, block * 32 + 32); ++index) {
            const float4 x = widen(left[index]);
            const float4 y = widen(right[index]);
            sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
        }
        total += sum * a_scale[block * scales_of_block + row] *
                 b_scale[static_cast<long long>(column / 128) * blocks + block];
    }
    c[static_cast<long long>(row) * n + column] = __float2bfloat16(total);
}
