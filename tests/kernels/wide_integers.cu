// 64- and 128-bit arithmetic: high products, carries, division, shifts.
extern "C" __global__ void wide_integers(const unsigned long long* x, const unsigned long long* y, unsigned long long* out, long long* sout, int n) {
    int t = threadIdx.x;
    unsigned long long a = x[t], b = y[t];
    out[t] = __umul64hi(a, b); out[n + t] = a / (b | 1); out[2 * n + t] = a % (b | 1); out[3 * n + t] = a * b;
    sout[t] = __mul64hi((long long)a, (long long)b); sout[n + t] = (long long)a / ((long long)b | 1); sout[2 * n + t] = (long long)a % ((long long)b | 1);
    sout[3 * n + t] = (long long)a >> (b & 63); out[4 * n + t] = a << (b & 63);
    out[5 * n + t] = __umulhi((unsigned)a, (unsigned)b) + (unsigned)__mulhi((int)a, (int)b);
    sout[4 * n + t] = min((long long)a, (long long)b) - max((long long)a, (long long)b) + llabs((long long)a);
    unsigned __int128 p = (unsigned __int128)a * b + ((unsigned __int128)b << 64 | a);
    __int128 q = (__int128)(long long)a * (long long)b - (__int128)a;
    out[6 * n + t] = (unsigned long long)p; out[7 * n + t] = (unsigned long long)(p >> 64);
    out[8 * n + t] = (unsigned long long)(q >> 17); out[9 * n + t] = (unsigned long long)(p / (b | 1));
    unsigned r0, r1, r2;
    asm("{ add.cc.u32 %0, %3, %4; addc.cc.u32 %1, %5, %6; addc.u32 %2, 0, 0; }" : "=r"(r0), "=r"(r1), "=r"(r2) : "r"((unsigned)a), "r"((unsigned)b), "r"((unsigned)(a >> 32)), "r"((unsigned)(b >> 32)));
    out[10 * n + t] = (unsigned long long)r1 << 32 | r0; out[11 * n + t] = r2;
    asm("{ sub.cc.u32 %0, %2, %3; subc.u32 %1, %4, %5; }" : "=r"(r0), "=r"(r1) : "r"((unsigned)a), "r"((unsigned)b), "r"((unsigned)(a >> 32)), "r"((unsigned)(b >> 32)));
    out[12 * n + t] = (unsigned long long)r1 << 32 | r0;
    asm("{ mad.lo.cc.u32 %0, %2, %3, %4; madc.hi.u32 %1, %2, %3, 0; }" : "=r"(r0), "=r"(r1) : "r"((unsigned)a), "r"((unsigned)b), "r"((unsigned)(a >> 32)));
    out[13 * n + t] = (unsigned long long)r1 << 32 | r0;
}
