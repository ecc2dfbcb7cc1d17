// Pictures: uchar3 to grey by integer weights, a separable blur with reflecting borders, bilinear scaling, and the
// Mandelbrot set in double precision.
extern "C" __global__ void grey(const uchar3* rgb, unsigned char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { uchar3 p = rgb[i]; out[i] = (p.x * 77 + p.y * 150 + p.z * 29 + 128) >> 8; }
}
__device__ int reflect(int i, int n) { i = abs(i); return i < n ? i : 2 * n - 2 - i; }
extern "C" __global__ void blur(const unsigned char* in, unsigned char* out, int w, int h) {
    extern __shared__ unsigned short rows[];  // blockDim.x columns of blockDim.y + 4 rows
    int x = blockIdx.x * blockDim.x + threadIdx.x, y0 = blockIdx.y * blockDim.y;
    const int k[5] = {1, 4, 6, 4, 1};
    for (int r = threadIdx.y; r < blockDim.y + 4; r += blockDim.y) {
        int sum = 0, y = reflect(min(y0 + r - 2, h + 1), h);
        if (x < w) for (int d = -2; d <= 2; d++) sum += k[d + 2] * in[y * w + reflect(x + d, w)];
        rows[r * blockDim.x + threadIdx.x] = (unsigned short)sum;
    }
    __syncthreads();
    int y = y0 + threadIdx.y;
    if (x >= w || y >= h) return;
    int sum = 0;
    for (int d = 0; d < 5; d++) sum += k[d] * rows[(threadIdx.y + d) * blockDim.x + threadIdx.x];
    out[y * w + x] = (sum + 128) >> 8;
}
extern "C" __global__ void resize_bilinear(const float* in, float* out, int w, int h, int ow, int oh) {
    int ox = blockIdx.x * blockDim.x + threadIdx.x, oy = blockIdx.y * blockDim.y + threadIdx.y;
    if (ox >= ow || oy >= oh) return;
    float fx = fmaxf(0.f, (ox + 0.5f) * w / ow - 0.5f), fy = fmaxf(0.f, (oy + 0.5f) * h / oh - 0.5f);
    int x0 = (int)fx, y0 = (int)fy, x1 = min(x0 + 1, w - 1), y1 = min(y0 + 1, h - 1);
    fx -= x0; fy -= y0;
    float top = in[y0 * w + x0] * (1 - fx) + in[y0 * w + x1] * fx, bottom = in[y1 * w + x0] * (1 - fx) + in[y1 * w + x1] * fx;
    out[oy * ow + ox] = top * (1 - fy) + bottom * fy;
}
extern "C" __global__ void mandelbrot(unsigned short* out, int w, int h, double cx, double cy, double step, int limit) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    double a = cx + px * step, b = cy + py * step, x = 0, y = 0;
    int i = 0;
    while (i < limit && x * x + y * y <= 4.0) { double t = x * x - y * y + a; y = 2 * x * y + b; x = t; ++i; }
    out[py * w + px] = i;
}
