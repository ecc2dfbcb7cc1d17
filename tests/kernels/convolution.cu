// Two-dimensional convolution of several channels (NCHW, padding one, filters 3 x 3), then ReLU; and
// maximum pooling 2 x 2 with indices.
#define MAX_CHANNELS 4
__constant__ int shift_of[2] = {-1, 1};

extern "C" __global__ void conv3x3_relu(const float* w, const float* bias, const float* x, float* y, int channels, int filters, int h, int wd) {
    // Tile of 8 x 8 outputs with a halo of one.
    __shared__ float tile[MAX_CHANNELS][10][10];
    __shared__ float k[MAX_CHANNELS][3][3];
    int tx = threadIdx.x, ty = threadIdx.y, f = blockIdx.z % filters, img = blockIdx.z / filters;
    int ox = blockIdx.x * 8 + tx, oy = blockIdx.y * 8 + ty, tid = ty * 8 + tx;
    for (int i = tid; i < channels * 9; i += 64) (&k[0][0][0])[i] = w[f * channels * 9 + i];
    for (int c = 0; c < channels; c++)
        for (int i = tid; i < 100; i += 64) {
            int iy = blockIdx.y * 8 + i / 10 + shift_of[0], ix = blockIdx.x * 8 + i % 10 + shift_of[0];
            bool inside = iy >= 0 && iy < h && ix >= 0 && ix < wd;
            tile[c][i / 10][i % 10] = inside ? x[((img * channels + c) * h + iy) * wd + ix] : 0.0f;
        }
    __syncthreads();
    if (ox >= wd || oy >= h) return;
    float acc = bias[f];
    for (int c = 0; c < channels; c++)
#pragma unroll
        for (int dy = 0; dy < 3; dy++)
#pragma unroll
            for (int dx = 0; dx < 3; dx++) acc += tile[c][ty + dy][tx + dx] * k[c][dy][dx];
    y[((img * filters + f) * h + oy) * wd + ox] = acc > 0 ? acc : 0;
}

extern "C" __global__ void maxpool2x2(const float* __restrict__ in, float* __restrict__ out, unsigned char* __restrict__ index, int planes, int h, int w) {
    int oh = h / 2, ow = w / 2;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < planes * oh * ow; i += blockDim.x * gridDim.x) {
        int p = i / (oh * ow), y = i / ow % oh, x = i % ow;
        const float* corner = in + (p * h + 2 * y) * w + 2 * x;
        float best = -INFINITY;
        int at = -1;
        for (int k = 0; k < 4; k++) {
            float v = corner[(k >> 1) * w + (k & 1)];
            if (v > best) { best = v; at = k; }
        }
        out[i] = best;
        index[i] = at;
    }
}
