// Fast Fourier transform of 256 complex numbers a block, radix 2 after bit reversal, twiddles by sincospif; and the
// direct sum in double precision for a few frequencies.
extern "C" __global__ void fft256(const float2* in, float2* out, int inverse) {
    __shared__ float2 s[256];
    const float2* x = in + blockIdx.x * 256;
    for (int i = threadIdx.x; i < 256; i += blockDim.x) s[__brev(i) >> 24] = x[i];
    for (int half = 1; half < 256; half <<= 1) {
        __syncthreads();
        for (int i = threadIdx.x; i < 128; i += blockDim.x) {
            int k = i & (half - 1), a = ((i - k) << 1) + k, b = a + half;
            float sn, cs;
            sincospif((inverse ? 1.0f : -1.0f) * k / half, &sn, &cs);
            float2 u = s[a], v = s[b];
            float2 t = {v.x * cs - v.y * sn, v.x * sn + v.y * cs};
            s[a] = {u.x + t.x, u.y + t.y};
            s[b] = {u.x - t.x, u.y - t.y};
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) out[blockIdx.x * 256 + i] = s[i];
}

extern "C" __global__ void dft_power(const double* x, double* power, int n) {
    double re = 0, im = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        double sn, cs;
        sincospi(-2.0 * blockIdx.x * i / n, &sn, &cs);
        re += x[i] * cs;
        im += x[i] * sn;
    }
    for (int o = 1; o < 32; o <<= 1) { re += __shfl_xor_sync(0xffffffff, re, o); im += __shfl_xor_sync(0xffffffff, im, o); }
    if (threadIdx.x == 0) power[blockIdx.x] = hypot(re, im);
}
