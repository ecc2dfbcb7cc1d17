// arch: 89
// fp8 products in both formats, and stmatrix where the target has it.
extern "C" __global__ void mma_fp8(const unsigned* in, float* out, unsigned* tile) {
    int t = threadIdx.x;
    unsigned a0 = in[t], a1 = in[t + 32], a2 = in[t + 64], a3 = in[t + 96], b0 = in[t + 128], b1 = in[t + 160];
    float f[4] = {0, 0, 0, 0};
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    asm("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    for (int i = 0; i < 4; i++) out[t + 32 * i] = f[i];
#if __CUDA_ARCH__ >= 900
    __shared__ __align__(16) unsigned s[128];
    unsigned address = (unsigned)__cvta_generic_to_shared(s) + t * 16;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(address), "r"(a0), "r"(a1), "r"(a2), "r"(a3) : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%0], {%1};" ::"r"(address), "r"(b0) : "memory");
    __syncwarp();
    for (int i = 0; i < 4; i++) tile[t + 32 * i] = s[t + 32 * i];
#endif
}
