// Weights of 8 and 4 bits back to f16 with scales per row and per group, and a matrix-vector product straight from 4 bits.
#include <cuda_fp16.h>
#include <stdint.h>

extern "C" __global__ void dequant_int8(const char4* __restrict__ w, const float* __restrict__ scale, half2* __restrict__ out, int cols4) {
    int row = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols4) return;
    char4 q = w[row * cols4 + c];
    float s = scale[row];
    half2* o = out + (row * cols4 + c) * 2;
    o[0] = __floats2half2_rn(q.x * s, q.y * s);
    o[1] = __floats2half2_rn(q.z * s, q.w * s);
}

// The trick of adding 1024 to integers in the mantissa of a half: 0x6400 | q is 1024 + q.
extern "C" __global__ void dequant_int4(const uint32_t* packed, const half* scales, const half* zeros, half2* out, int words, int words_per_group) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    uint32_t q = packed[i];
    half2 s = __half2half2(scales[i / words_per_group]), z = __half2half2(zeros[i / words_per_group]);
#pragma unroll
    for (int p = 0; p < 4; p++) {
        uint32_t pair;
        asm("lop3.b32 %0, %1, %2, %3, 0xEA;" : "=r"(pair) : "r"(q >> (4 * p)), "r"(0x000f000fu), "r"(0x64006400u));
        half2 h = *reinterpret_cast<half2*>(&pair);
        h = __hsub2(h, __float2half2_rn(1024.0f));
        out[i * 4 + p] = __hmul2(__hsub2(h, z), s);
    }
}

// y = W x, W in 4 bits (offset 8), one warp a row, f32 sums.
extern "C" __global__ void gemv_int4(const uint32_t* __restrict__ w, const float* __restrict__ scale, const float* __restrict__ x, float* __restrict__ y, int rows, int words) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows) return;
    float acc = 0.f;
    for (int i = lane; i < words; i += 32) {
        uint32_t q = __ldg(w + (size_t)row * words + i);
        const float4* xv = reinterpret_cast<const float4*>(x + i * 8);
        float4 lo = xv[0], hi = xv[1];
        acc += ((int)(q & 15) - 8) * lo.x + ((int)((q >> 4) & 15) - 8) * lo.y + ((int)((q >> 8) & 15) - 8) * lo.z + ((int)((q >> 12) & 15) - 8) * lo.w;
        acc += ((int)((q >> 16) & 15) - 8) * hi.x + ((int)((q >> 20) & 15) - 8) * hi.y + ((int)((q >> 24) & 15) - 8) * hi.z + ((int)(q >> 28) - 8) * hi.w;
    }
    for (int off = 16; off; off >>= 1) acc += __shfl_down_sync(0xffffffff, acc, off);
    if (lane == 0) y[row] = acc * scale[row];
}
