// arch: 80
// Attention of one head with mma.m16n8k16: 16 queries a warp, keys in tiles of 8 x 2, scores stay in registers and
// become the left operand of the second product; 32 dimensions, length a multiple of 16.
#include <cuda_fp16.h>

__device__ __forceinline__ unsigned pack(float a, float b) { half2 h = __floats2half2_rn(a, b); return *(unsigned*)&h; }
__device__ __forceinline__ void mma(float* d, const unsigned* a, unsigned b0, unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

extern "C" __global__ void mma_attention(const half* q, const half* k, const half* v, float* o, int length, float scale) {
    const int D = 32, lane = threadIdx.x, g = lane >> 2, t = lane & 3, row0 = blockIdx.x * 16;
    unsigned fq[2][4];
    for (int i = 0; i < 2; i++) {
        const half* base = q + (row0 + g) * D + i * 16 + t * 2;
        fq[i][0] = *(const unsigned*)base; fq[i][1] = *(const unsigned*)(base + 8 * D);
        fq[i][2] = *(const unsigned*)(base + 8); fq[i][3] = *(const unsigned*)(base + 8 * D + 8);
    }
    float acc[4][4] = {}, highest[2] = {-1e30f, -1e30f}, total[2] = {0, 0};
    for (int j = 0; j < length; j += 16) {
        float s[2][4] = {};
        for (int n = 0; n < 2; n++)
            for (int i = 0; i < 2; i++) {
                const half* key = k + (j + n * 8 + g) * D + i * 16 + t * 2;
                mma(s[n], fq[i], *(const unsigned*)key, *(const unsigned*)(key + 8));
            }
        for (int r = 0; r < 2; r++) {
            float m = highest[r];
            for (int n = 0; n < 2; n++) for (int c = 0; c < 2; c++) { s[n][r * 2 + c] *= scale; m = fmaxf(m, s[n][r * 2 + c]); }
            m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
            m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
            float keep = __expf(highest[r] - m), sum = 0;
            for (int n = 0; n < 2; n++) for (int c = 0; c < 2; c++) { s[n][r * 2 + c] = __expf(s[n][r * 2 + c] - m); sum += s[n][r * 2 + c]; }
            total[r] = total[r] * keep + sum;
            for (int n = 0; n < 4; n++) { acc[n][r * 2] *= keep; acc[n][r * 2 + 1] *= keep; }
            highest[r] = m;
        }
        unsigned p[4] = {pack(s[0][0], s[0][1]), pack(s[0][2], s[0][3]), pack(s[1][0], s[1][1]), pack(s[1][2], s[1][3])};
        for (int n = 0; n < 4; n++) {
            const half* value = v + (j + t * 2) * D + n * 8 + g;
            half2 low = __halves2half2(value[0], value[D]), high = __halves2half2(value[8 * D], value[9 * D]);
            mma(acc[n], p, *(unsigned*)&low, *(unsigned*)&high);
        }
    }
    for (int r = 0; r < 2; r++) {
        float sum = total[r] + __shfl_xor_sync(~0u, total[r], 1);
        sum += __shfl_xor_sync(~0u, sum, 2);
        for (int n = 0; n < 4; n++)
            *(float2*)&o[(row0 + g + 8 * r) * D + n * 8 + t * 2] = make_float2(acc[n][r * 2] / sum, acc[n][r * 2 + 1] / sum);
    }
}
