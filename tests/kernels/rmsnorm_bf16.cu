// RMS norm of bf16 rows with vector loads of eight.
#include <cuda_bf16.h>
extern "C" __global__ void __launch_bounds__(256) rmsnorm_bf16(const __nv_bfloat16* x, const __nv_bfloat16* w, __nv_bfloat16* y, int columns, float eps) {
    __shared__ float s[8];
    const uint4* row = (const uint4*)(x + (size_t)blockIdx.x * columns);
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns / 8; c += 256) {
        uint4 v = row[c];
        const __nv_bfloat162* h = (const __nv_bfloat162*)&v;
        for (int k = 0; k < 4; k++) { float2 f = __bfloat1622float2(h[k]); sum += f.x * f.x + f.y * f.y; }
    }
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    float all = 0.0f;
    for (int k = 0; k < 8; k++) all += s[k];
    float scale = rsqrtf(all / columns + eps);
    for (int c = threadIdx.x; c < columns; c += 256) {
        size_t i = (size_t)blockIdx.x * columns + c;
        y[i] = __float2bfloat16(__bfloat162float(x[i]) * scale * __bfloat162float(w[c]));
    }
}
