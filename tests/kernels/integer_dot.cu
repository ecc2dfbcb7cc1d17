// dp4a and dp2a, signed and unsigned, against scalar sums of bytes.
extern "C" __global__ void integer_dot(const int* a, const int* b, int* s, unsigned* u, int n) {
    int t = threadIdx.x;
    s[t] = __dp4a(a[t], b[t], 5); u[t] = __dp4a((unsigned)a[t], (unsigned)b[t], 5u);
    s[n + t] = __dp2a_lo(a[t], b[t], -1); s[2 * n + t] = __dp2a_hi(a[t], b[t], -1);
    u[n + t] = __dp2a_lo((unsigned)a[t], (unsigned)b[t], 1u); u[2 * n + t] = __dp2a_hi((unsigned)a[t], (unsigned)b[t], 1u);
    s[3 * n + t] = __sad(a[t], b[t], 3u); u[3 * n + t] = __usad((unsigned)a[t], (unsigned)b[t], 3u);
    s[4 * n + t] = __mul24(a[t], b[t]) + __hadd(a[t], b[t]) + __rhadd(a[t], b[t]); u[4 * n + t] = __umul24(a[t], b[t]);
}
