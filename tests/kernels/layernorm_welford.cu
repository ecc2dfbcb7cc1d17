// LayerNorm of f32 rows, one warp a row, mean and variance in one pass by Welford's updates merged across lanes.
struct WelfordData { float mean, m2, count; };

__device__ WelfordData merge(WelfordData a, WelfordData b) {
    float count = a.count + b.count;
    if (count == 0.f) return {0.f, 0.f, 0.f};
    float delta = b.mean - a.mean, share = b.count / count;
    return {a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share, count};
}

extern "C" __global__ void layernorm_welford(const float* x, const float* weight, const float* bias, float* y, float* mean, float* rstd, int rows, int columns, float eps) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;  // the whole warp leaves
    x += row * columns; y += row * columns;
    WelfordData w = {0.f, 0.f, 0.f};
    for (int c = threadIdx.x; c < columns; c += warpSize) {
        float v = x[c];
        w.count += 1.f;
        float delta = v - w.mean;
        w.mean += delta / w.count;
        w.m2 += delta * (v - w.mean);
    }
    for (int offset = warpSize / 2; offset > 0; offset /= 2) {
        WelfordData other = {__shfl_down_sync(0xffffffffu, w.mean, offset), __shfl_down_sync(0xffffffffu, w.m2, offset), __shfl_down_sync(0xffffffffu, w.count, offset)};
        w = merge(w, other);
    }
    float m = __shfl_sync(0xffffffffu, w.mean, 0), r = rsqrtf(__shfl_sync(0xffffffffu, w.m2, 0) / columns + eps);
    if (threadIdx.x == 0) { mean[row] = m; rstd[row] = r; }
    for (int c = threadIdx.x; c < columns; c += warpSize) y[c] = (x[c] - m) * r * weight[c] + bias[c];
}
