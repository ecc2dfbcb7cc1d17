// The double-precision library: elementary functions, division, roots, remainders.
extern "C" __global__ void math_double(const double* x, const double* y, double* out, int n) {
    int t = threadIdx.x;
    double a = x[t], b = y[t];
    out[t] = sin(a) + cos(b); out[n + t] = exp(a) - log(fabs(b) + 1); out[2 * n + t] = pow(fabs(a), b); out[3 * n + t] = a / b;
    out[4 * n + t] = sqrt(fabs(a)) + rsqrt(fabs(b) + 1) + cbrt(a); out[5 * n + t] = fmod(a, b) + remainder(a, b); out[6 * n + t] = tanh(a) + erf(b) + lgamma(fabs(a) + 1);
    out[7 * n + t] = atan2(a, b) + asin(a / (fabs(a) + 1)); out[8 * n + t] = fma(a, b, 1.0) + __dadd_rz(a, b) + __dmul_ru(a, b) + __ddiv_rd(a, b) + __dsqrt_rn(fabs(a));
    out[9 * n + t] = fmin(a, b) + fmax(a, b) + copysign(a, b) + ldexp(a, 3) + nextafter(a, b); out[10 * n + t] = isnan(a) + isinf(b) + signbit(a);
}
