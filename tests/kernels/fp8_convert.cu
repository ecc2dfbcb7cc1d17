// fp8 in both formats, fp6 and fp4: from floats and back.
#include <cuda_fp8.h>
extern "C" __global__ void fp8_convert(const float* x, unsigned char* e4, unsigned char* e5, float* back, unsigned short* pairs, int n) {
    int i = threadIdx.x;
    __nv_fp8_e4m3 a(x[i]);
    __nv_fp8_e5m2 b(x[i]);
    e4[i] = a.__x; e5[i] = b.__x;
    back[i] = float(a); back[n + i] = float(b);
    __nv_fp8x2_e4m3 p(make_float2(x[i], -x[i]));
    pairs[i] = p.__x;
    float2 f = float2(p);
    back[2 * n + i] = f.x - f.y;
    __half h(a);
    back[3 * n + i] = __half2float(h);
}
