// Inline assembly with scopes of its own: registers, labels, predicates, vectors, sinks, special registers.
extern "C" __global__ void inline_assembly(const int* x, int* y, const float4* v, float* w, int n) {
    int t = threadIdx.x, a = x[t], r;
    asm("{\n .reg .pred p, q;\n .reg .b32 k<3>;\n setp.lt.and.s32 p|q, %1, 3, 1;\n selp.s32 k0, %1, 7, p;\n selp.s32 k1, 1, 2, q;\n add.s32 %0, k0, k1;\n}" : "=r"(r) : "r"(a));
    y[t] = r;
    asm volatile("{\n .reg .pred p;\n .reg .s32 i;\n mov.s32 i, 0;\n mov.s32 %0, 0;\nAGAIN:\n add.s32 %0, %0, i;\n add.s32 i, i, 1;\n setp.le.s32 p, i, %1;\n @p bra AGAIN;\n}" : "=&r"(r) : "r"(t));
    y[n + t] = r;
    float f, g;
    asm("{ .reg .f32 z; ld.global.v4.f32 {%0, _, z, %1}, [%2]; add.f32 %0, %0, z; }" : "=f"(f), "=f"(g) : "l"(v + t));
    w[t] = f + g;
    unsigned lane, mask, low, high;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(mask));
    asm("{ .reg .b64 d; mov.b64 d, {%2, %3}; shr.u64 d, d, 4; mov.b64 {%0, %1}, d; }" : "=r"(low), "=r"(high) : "r"(a), "r"(lane));
    y[2 * n + t] = lane + __popc(mask) + low + high;
    short s0, s1;
    asm("mov.b32 {%0, %1}, %2;" : "=h"(s0), "=h"(s1) : "r"(a));
    y[3 * n + t] = s0 - s1;
    asm volatile("{ .reg .pred p; setp.eq.s32 p, %1, 0; @!p st.global.s32 [%0], %2; @p red.global.add.s32 [%0], 1; }" ::"l"(y + 4 * n + t), "r"(a), "r"(t) : "memory");
    unsigned long long size;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(size));
    asm volatile("{ .reg .u32 d; mov.u32 d, %%dynamic_smem_size; cvt.u64.u32 %0, d; }" : "=l"(size));
    y[5 * n + t] = (int)size;
}
