// Prices of European calls and puts: the polynomial of the old SDK in single precision, normcdf in double.
__device__ inline float cndGPU(float d)
{
    const float A1 = 0.31938153f;
    const float A2 = -0.356563782f;
    const float A3 = 1.781477937f;
    const float A4 = -1.821255978f;
    const float A5 = 1.330274429f;
    const float RSQRT2PI = 0.39894228040143267793994605993438f;
    float K = __fdividef(1.0f, (1.0f + 0.2316419f * fabsf(d)));
    float cnd = RSQRT2PI * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    if (d > 0) cnd = 1.0f - cnd;
    return cnd;
}

extern "C" __launch_bounds__(128) __global__ void black_scholes(float2 *__restrict d_CallResult, float2 *__restrict d_PutResult, const float2 *__restrict d_StockPrice, const float2 *__restrict d_OptionStrike, const float2 *__restrict d_OptionYears, float R, float V, int optN)
{
    const int opt = blockDim.x * blockIdx.x + threadIdx.x;
    if (opt < (optN / 2)) {
        float2 call, put;
        float S[2] = {d_StockPrice[opt].x, d_StockPrice[opt].y}, X[2] = {d_OptionStrike[opt].x, d_OptionStrike[opt].y}, T[2] = {d_OptionYears[opt].x, d_OptionYears[opt].y};
        float *c = &call.x, *p = &put.x;
        for (int k = 0; k < 2; k++) {
            float sqrtT = __fdividef(1.0F, rsqrtf(T[k]));
            float d1 = __fdividef(__logf(S[k] / X[k]) + (R + 0.5f * V * V) * T[k], V * sqrtT);
            float d2 = d1 - V * sqrtT;
            float CNDD1 = cndGPU(d1), CNDD2 = cndGPU(d2), expRT = __expf(-R * T[k]);
            c[k] = S[k] * CNDD1 - X[k] * expRT * CNDD2;
            p[k] = X[k] * expRT * (1.0f - CNDD2) - S[k] * (1.0f - CNDD1);
        }
        d_CallResult[opt] = call;
        d_PutResult[opt] = put;
    }
}

extern "C" __global__ void black_scholes_double(double* call, double* put, const double* price, const double* strike, const double* years, double r, double v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double s = price[i], x = strike[i], t = years[i], root = v * sqrt(t);
    double d1 = (log(s / x) + (r + 0.5 * v * v) * t) / root, d2 = d1 - root, discount = x * exp(-r * t);
    call[i] = s * normcdf(d1) - discount * normcdf(d2);
    put[i] = discount * normcdf(-d2) - s * normcdf(-d1);
}
