// arch: 80
// f16 and bf16, alone and in pairs: arithmetic, comparison, minimum, conversion.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void half_arithmetic(const __half* x, const __half* y, __half* out, const __half2* x2, const __half2* y2, __half2* out2, int n) {
    int i = threadIdx.x;
    __half a = x[i], b = y[i];
    out[i] = __hfma(a, b, __hadd(a, b));
    out[n + i] = __hlt(a, b) ? __hsub(b, a) : __hmul(a, b);
    out[2 * n + i] = __hmin(__habs(a), __hneg(b));
    out[3 * n + i] = __hdiv(a, b);
    out[4 * n + i] = hsqrt(__habs(a));
    out[5 * n + i] = __float2half_rz(__half2float(hexp2(a)) + __half2float(hlog(__habs(b))));
    __half2 p = x2[i], q = y2[i];
    out2[i] = __hfma2(p, q, __hmax2(p, q));
    out2[n + i] = __hadd2_sat(p, __hmul2(q, q));
    out2[2 * n + i] = __hle2(p, q);
    out2[3 * n + i] = h2exp2(__hmin2(p, q));
    out2[4 * n + i] = __hfma2_relu(p, q, __hneg2(p));
}
extern "C" __global__ void bfloat_arithmetic(const __nv_bfloat16* x, const __nv_bfloat16* y, __nv_bfloat16* out, const __nv_bfloat162* x2, __nv_bfloat162* out2, int n) {
    int i = threadIdx.x;
    __nv_bfloat16 a = x[i], b = y[i];
    out[i] = __hfma(a, b, __hadd(a, b));
    out[n + i] = __hgt(a, b) ? __hmax(a, b) : __hneg(a);
    out[2 * n + i] = __hsub(__habs(a), __hmul(a, b));
    out[3 * n + i] = __double2bfloat16((double)__bfloat162float(a) / 3.0);
    out2[i] = __hfma2(x2[i], x2[i], __hmin2(x2[i], __float2bfloat162_rn(0.5f)));
    out2[n + i] = __hmul2(x2[i], x2[i]);
}
