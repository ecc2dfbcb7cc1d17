// Pairs of 16-bit integers and bytes, with saturation, minimum and relu.
extern "C" __global__ void packed_simd(const unsigned* a, const unsigned* b, unsigned* out, int n) {
    int t = threadIdx.x;
    unsigned x = a[t], y = b[t];
    out[t] = __vadd2(x, y); out[n + t] = __vmaxs2(x, y); out[2 * n + t] = __viaddmin_s16x2_relu(x, y, 0x00050007u);
    out[3 * n + t] = __vminu4(x, y) ^ __vcmpeq4(x, y); out[4 * n + t] = (unsigned)__vimax3_s32((int)x, (int)y, 3) + (unsigned)__vimin_s32_relu((int)x, (int)y);
    out[5 * n + t] = __viaddmax_u16x2(x, y, 9u) + __vaddss2(x, y) + __vavgu4(x, y);
}
