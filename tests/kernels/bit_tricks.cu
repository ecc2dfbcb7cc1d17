// Counts, reversals, fields, permutations, funnel shifts, three-input logic.
extern "C" __global__ void bit_tricks(const unsigned* x, const unsigned long long* w, unsigned* out, unsigned long long* wide, int n) {
    int t = threadIdx.x;
    unsigned a = x[t], b = x[(t + 1) % n], r;
    unsigned long long c = w[t];
    out[t] = __popc(a) + __popcll(c) * 64; out[n + t] = __clz(a) + __clzll(c) * 64; out[2 * n + t] = __ffs(a) + __ffsll(c) * 64;
    out[3 * n + t] = __brev(a); wide[t] = __brevll(c); out[4 * n + t] = __byte_perm(a, b, 0x5140);
    out[5 * n + t] = __funnelshift_l(a, b, 7) ^ __funnelshift_rc(a, b, b & 63); out[6 * n + t] = (a & b) ^ (~a | 0x55) ^ (b << (a & 31)) ^ (a >> (b & 31));
    asm("bfe.u32 %0, %1, 5, 9;" : "=r"(r) : "r"(a)); out[7 * n + t] = r;
    asm("bfi.b32 %0, %1, %2, 8, 12;" : "=r"(r) : "r"(a), "r"(b)); out[8 * n + t] = r;
    asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a)); out[9 * n + t] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(r) : "r"(a), "r"(b), "r"(a ^ b << 3)); out[10 * n + t] = r;
    asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(a & 3)); out[11 * n + t] = r;
    asm("fns.b32 %0, %1, 3, 2;" : "=r"(r) : "r"(a)); out[12 * n + t] = r;
    asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(r) : "r"(a & 31), "r"(b & 31)); out[13 * n + t] = r;
    asm("szext.clamp.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b & 31)); out[14 * n + t] = r;
    asm("cnot.b32 %0, %1;" : "=r"(r) : "r"(a & 1)); out[15 * n + t] = r;
    asm("slct.s32.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"((int)(a ^ b))); out[16 * n + t] = r;
}
