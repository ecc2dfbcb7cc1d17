// C = A B in f32, 16 x 16 tiles in shared memory, every size.
extern "C" __global__ void gemm_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float sa[16][16], sb[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int t = 0; t < (k + 15) / 16; t++) {
        sa[ty][tx] = row < m && t * 16 + tx < k ? a[row * k + t * 16 + tx] : 0.0f;
        sb[ty][tx] = column < n && t * 16 + ty < k ? b[(t * 16 + ty) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += sa[ty][i] * sb[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
