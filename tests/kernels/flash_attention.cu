// FlashAttention-style forward pass in f32: tiles of keys and values in dynamic shared memory, running maximum and sum,
// one block a head and a tile of queries; writes the logarithm of the sums too.
#define Br 16
#define Bc 16

extern "C" __global__ void flash_attention(const float* Q, const float* K, const float* V, float* O, float* L, int N, int d, float softmax_scale) {
    extern __shared__ float sram[];
    int tx = threadIdx.x;                 // a query of the tile
    int by = blockIdx.y;                  // head
    int offset = by * N * d;
    float* Qi = sram;
    float* Kj = Qi + Br * d;
    float* Vj = Kj + Bc * d;
    float* S = Vj + Bc * d;
    int q_row = blockIdx.x * Br + tx;
    bool active = q_row < N;
    for (int x = 0; x < d; x++) Qi[tx * d + x] = active ? Q[offset + q_row * d + x] : 0.f;
    float m = -INFINITY, l = 0.f;
    float acc[32];
    for (int x = 0; x < 32; x++) acc[x] = 0.f;
    int Tc = (N + Bc - 1) / Bc;
    for (int j = 0; j < Tc; j++) {
        int k_row = j * Bc + tx;
        for (int x = 0; x < d; x++) {
            Kj[tx * d + x] = k_row < N ? K[offset + k_row * d + x] : 0.f;
            Vj[tx * d + x] = k_row < N ? V[offset + k_row * d + x] : 0.f;
        }
        __syncthreads();
        int valid = min(Bc, N - j * Bc);
        float row_m = m;
        for (int y = 0; y < valid; y++) {
            float sum = 0.f;
            for (int x = 0; x < d; x++) sum += Qi[tx * d + x] * Kj[y * d + x];
            sum *= softmax_scale;
            S[tx * Bc + y] = sum;
            row_m = fmaxf(row_m, sum);
        }
        float correction = __expf(m - row_m);
        l *= correction;
        for (int x = 0; x < d; x++) acc[x] *= correction;
        for (int y = 0; y < valid; y++) {
            float p = __expf(S[tx * Bc + y] - row_m);
            l += p;
            for (int x = 0; x < d; x++) acc[x] += p * Vj[y * d + x];
        }
        m = row_m;
        __syncthreads();
    }
    if (active) {
        for (int x = 0; x < d; x++) O[offset + q_row * d + x] = acc[x] / l;
        L[by * N + q_row] = m + __logf(l);
    }
}
