// C = A B in f32, 64 x 64 tiles, 4 x 4 results a thread, vector loads.
extern "C" __global__ void __launch_bounds__(256) gemm_register(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ __align__(16) float sa[16][64];
    __shared__ __align__(16) float sb[16][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < k; k0 += 16) {
        int r = t / 4, q = t % 4 * 4;
        float4 v = *(const float4*)&a[(blockIdx.y * 64 + r) * k + k0 + q];
        sa[q][r] = v.x; sa[q + 1][r] = v.y; sa[q + 2][r] = v.z; sa[q + 3][r] = v.w;
        *(float4*)&sb[t / 16][t % 16 * 4] = *(const float4*)&b[(k0 + t / 16) * n + blockIdx.x * 64 + t % 16 * 4];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) {
            float4 x = *(float4*)&sa[i][ty * 4], y = *(float4*)&sb[i][tx * 4];
            float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int p = 0; p < 4; p++)
#pragma unroll
                for (int o = 0; o < 4; o++) acc[p][o] += xs[p] * ys[o];
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; p++)
        *(float4*)&c[(blockIdx.y * 64 + ty * 4 + p) * n + blockIdx.x * 64 + tx * 4] = make_float4(acc[p][0], acc[p][1], acc[p][2], acc[p][3]);
}
