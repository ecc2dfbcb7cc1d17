// arch: 80
// C = A B^T, bf16 in, f32 out, 64 x 64 tiles, four warps, three stages of cp.async, ldmatrix and mma.m16n8k16; rows of a
// tile are swizzled so that ldmatrix reads without conflicts.
#include <cuda_bf16.h>
#include <stdint.h>

namespace {
constexpr int BM = 64, BN = 64, BK = 32, STAGES = 3;

__device__ __forceinline__ uint32_t smem_u32(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ int swizzle(int row, int chunk) { return row * BK + ((chunk ^ ((row >> 1) & 3)) << 3); }
__device__ __forceinline__ void cp_async16(void* dst, const void* src) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n" ::"r"(smem_u32(dst)), "l"(src));
}
__device__ __forceinline__ void ldmatrix_x4(uint32_t (&r)[4], const void* p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(smem_u32(p)));
}
__device__ __forceinline__ void mma16816(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
}  // namespace

extern "C" __global__ void __launch_bounds__(128) mma_gemm_bf16(const __nv_bfloat16* __restrict__ A, const __nv_bfloat16* __restrict__ B, float* __restrict__ C, int N, int K) {
    extern __shared__ __align__(128) __nv_bfloat16 smem[];
    __nv_bfloat16* sA = smem;
    __nv_bfloat16* sB = smem + STAGES * BM * BK;
    const int tid = threadIdx.x, warp = tid >> 5, lane = tid & 31, wm = warp >> 1, wn = warp & 1;
    const __nv_bfloat16* gA = A + (size_t)blockIdx.y * BM * K;
    const __nv_bfloat16* gB = B + (size_t)blockIdx.x * BN * K;
    auto load = [&](int stage, int k0) {
#pragma unroll
        for (int i = 0; i < BM * BK / 8 / 128; ++i) {
            int at = tid + i * 128, row = at >> 2, chunk = at & 3;
            cp_async16(sA + stage * BM * BK + swizzle(row, chunk), gA + row * K + k0 + chunk * 8);
            cp_async16(sB + stage * BN * BK + swizzle(row, chunk), gB + row * K + k0 + chunk * 8);
        }
    };
    const int tiles = K / BK;
#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < tiles) load(s, s * BK);
        asm volatile("cp.async.commit_group;\n");
    }
    float acc[2][4][4] = {};
    for (int t = 0; t < tiles; ++t) {
        asm volatile("cp.async.wait_group %0;\n" ::"n"(STAGES - 2));
        __syncthreads();
        if (t + STAGES - 1 < tiles) load((t + STAGES - 1) % STAGES, (t + STAGES - 1) * BK);
        asm volatile("cp.async.commit_group;\n");
        const __nv_bfloat16* a = sA + (t % STAGES) * BM * BK;
        const __nv_bfloat16* b = sB + (t % STAGES) * BN * BK;
#pragma unroll
        for (int kk = 0; kk < BK / 16; ++kk) {
            uint32_t fa[2][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 2; ++i) ldmatrix_x4(fa[i], a + swizzle(wm * 32 + i * 16 + (lane & 15), kk * 2 + (lane >> 4)));
#pragma unroll
            for (int j = 0; j < 2; ++j) ldmatrix_x4(fb[j], b + swizzle(wn * 32 + j * 16 + (lane & 7) + ((lane >> 4) << 3), kk * 2 + ((lane >> 3) & 1)));
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) mma16816(acc[i][j], fa[i], fb[j >> 1][(j & 1) * 2], fb[j >> 1][(j & 1) * 2 + 1]);
        }
    }
    asm volatile("cp.async.wait_all;\n");
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int row = blockIdx.y * BM + wm * 32 + i * 16 + (lane >> 2), col = blockIdx.x * BN + wn * 32 + j * 8 + (lane & 3) * 2;
            *reinterpret_cast<float2*>(&C[(size_t)row * N + col]) = make_float2(acc[i][j][0], acc[i][j][1]);
            *reinterpret_cast<float2*>(&C[(size_t)(row + 8) * N + col]) = make_float2(acc[i][j][2], acc[i][j][3]);
        }
}
