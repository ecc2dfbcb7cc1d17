// The functions of the maths libraries one by one, for their bounds in the CUDA C++ Programming Guide ("Mathematical
// Functions"): f32 and f64, one result after the other.
#define EACH(FUNCTION) FUNCTION(0, exp) FUNCTION(1, exp2) FUNCTION(2, exp10) FUNCTION(3, expm1) FUNCTION(4, sin) FUNCTION(5, cos) FUNCTION(6, tan) FUNCTION(7, sinpi) FUNCTION(8, cospi) FUNCTION(9, atan) FUNCTION(10, sinh) FUNCTION(11, cosh) FUNCTION(12, tanh) FUNCTION(13, asinh) FUNCTION(14, cbrt) FUNCTION(15, erf) FUNCTION(16, erfc) FUNCTION(17, tgamma)
#define EACH_POSITIVE(FUNCTION) FUNCTION(0, log) FUNCTION(1, log2) FUNCTION(2, log10) FUNCTION(3, log1p) FUNCTION(4, sqrt) FUNCTION(5, rsqrt) FUNCTION(6, rcbrt) FUNCTION(7, lgamma)

extern "C" __global__ void single_any(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#define STORE(k, name) out[k * n + i] = name##f(x[i]);
    EACH(STORE)
#undef STORE
}
extern "C" __global__ void single_positive(const float* x, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#define STORE(k, name) out[k * n + i] = name##f(x[i]);
    EACH_POSITIVE(STORE)
#undef STORE
}
extern "C" __global__ void double_any(const double* x, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#define STORE(k, name) out[k * n + i] = name(x[i]);
    EACH(STORE)
#undef STORE
}
extern "C" __global__ void double_positive(const double* x, double* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#define STORE(k, name) out[k * n + i] = name(x[i]);
    EACH_POSITIVE(STORE)
#undef STORE
}
// Two arguments, and arguments far away (Payne-Hanek reduction).
extern "C" __global__ void two_arguments(const float* x, const float* y, float* out, int n) {
    int i = threadIdx.x;
    float a = x[i], b = y[i];
    out[i] = powf(a, b);
    out[n + i] = atan2f(b, a);
    out[2 * n + i] = hypotf(a, b);
    out[3 * n + i] = fmodf(b * 100.0f, a);
    out[4 * n + i] = sinf(b * 1e8f);
    out[5 * n + i] = cosf(b * 1e30f);
    out[6 * n + i] = ldexpf(b, (int)(a * 10)) + scalbnf(b, -3);
    int exponent;
    out[7 * n + i] = frexpf(b, &exponent);
    out[8 * n + i] = exponent + logbf(b) + ilogbf(b);
    float whole;
    out[9 * n + i] = modff(b * 10.0f, &whole);
    out[10 * n + i] = whole + nearbyintf(b * 10.0f) + (float)lrintf(b * 10.0f);
}
