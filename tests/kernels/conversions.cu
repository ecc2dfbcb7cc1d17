// Conversions between all widths of integers and floats, in all four roundings.
extern "C" __global__ void conversions(const float* f, const double* d, const long long* l, int* i, unsigned* u, long long* ll, unsigned long long* ull, float* fo, double* dout, signed char* c, unsigned short* us, int n) {
    int t = threadIdx.x;
    float x = f[t]; double y = d[t]; long long w = l[t];
    i[t] = __float2int_rn(x); i[n + t] = __float2int_rz(x); i[2 * n + t] = __float2int_ru(x); i[3 * n + t] = __float2int_rd(x);
    i[4 * n + t] = __double2int_rn(y); i[5 * n + t] = __double2int_rd(y); i[6 * n + t] = (int)y;
    u[t] = __float2uint_rz(x); u[n + t] = __double2uint_ru(y); u[2 * n + t] = (unsigned)w;
    ll[t] = __float2ll_rn(x); ll[n + t] = __double2ll_rd(y); ull[t] = __float2ull_ru(x); ull[n + t] = __double2ull_rz(y);
    fo[t] = __ll2float_rn(w); fo[n + t] = __ll2float_rz(w); fo[2 * n + t] = __ull2float_ru(w); fo[3 * n + t] = __int2float_rd((int)w);
    fo[4 * n + t] = __double2float_rn(y); fo[5 * n + t] = __double2float_rz(y); fo[6 * n + t] = __double2float_ru(y); fo[7 * n + t] = __saturatef(x);
    dout[t] = __ll2double_rn(w); dout[n + t] = __ull2double_rz(w); dout[2 * n + t] = (double)x; dout[3 * n + t] = (double)(int)w;
    fo[8 * n + t] = rintf(x) + truncf(x) + ceilf(x) + floorf(x);
    dout[4 * n + t] = rint(y) + trunc(y) + ceil(y) + floor(y);
    c[t] = (signed char)(int)x; us[t] = (unsigned short)w; c[n + t] = (signed char)us[t]; i[7 * n + t] = c[t] * us[t];
}
