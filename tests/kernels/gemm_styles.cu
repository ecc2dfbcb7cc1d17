// C = alpha A B + beta C three more ways: one thread an element, double precision; registers fetched ahead of a double
// buffer; pairs of halves.
#include <cuda_fp16.h>

extern "C" __global__ void dgemm_naive(int M, int N, int K, double alpha, const double *A, const double *B, double beta, double *C) {
    const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < M && y < N) {
        double tmp = 0.0;
        for (int i = 0; i < K; ++i) {
            tmp += A[x * K + i] * B[i * N + y];
        }
        C[x * N + y] = alpha * tmp + beta * C[x * N + y];
    }
}

// M, N multiples of 32, K of 8; 64 threads, 4 x 4 elements each.
template <int BM, int BN, int BK, int TM, int TN>
__device__ void sgemm_tile(int N, int K, const float* A, const float* B, float* C) {
    __shared__ float As[2][BK][BM + 4];
    __shared__ __align__(16) float Bs[2][BK][BN];
    const int tid = threadIdx.x, tr = tid / (BN / TN), tc = tid % (BN / TN);
    const int a_row = tid / (BK / 4), a_col = tid % (BK / 4) * 4, b_row = tid / (BN / 4), b_col = tid % (BN / 4) * 4;
    A += blockIdx.y * BM * K;
    B += blockIdx.x * BN;
    C += blockIdx.y * BM * N + blockIdx.x * BN;
    float acc[TM][TN] = {}, rm[TM], rn[TN];
    float4 fa = *reinterpret_cast<const float4*>(&A[a_row * K + a_col]);
    float4 fb = *reinterpret_cast<const float4*>(&B[b_row * N + b_col]);
    int write = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        As[write][a_col + 0][a_row] = fa.x;
        As[write][a_col + 1][a_row] = fa.y;
        As[write][a_col + 2][a_row] = fa.z;
        As[write][a_col + 3][a_row] = fa.w;
        *reinterpret_cast<float4*>(&Bs[write][b_row][b_col]) = fb;
        __syncthreads();
        if (k0 + BK < K) {
            fa = *reinterpret_cast<const float4*>(&A[a_row * K + k0 + BK + a_col]);
            fb = *reinterpret_cast<const float4*>(&B[(k0 + BK + b_row) * N + b_col]);
        }
#pragma unroll
        for (int k = 0; k < BK; ++k) {
#pragma unroll
            for (int i = 0; i < TM; ++i) rm[i] = As[write][k][tr * TM + i];
#pragma unroll
            for (int i = 0; i < TN; ++i) rn[i] = Bs[write][k][tc * TN + i];
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int j = 0; j < TN; ++j) acc[i][j] = fmaf(rm[i], rn[j], acc[i][j]);
        }
        write ^= 1;
    }
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) C[(tr * TM + i) * N + tc * TN + j] = acc[i][j];
}

extern "C" __global__ void __launch_bounds__(64) sgemm_double_buffer(int N, int K, const float* A, const float* B, float* C) {
    sgemm_tile<32, 32, 8, 4, 4>(N, K, A, B, C);
}

// Two columns a thread in one half2; B row-major, sums in f16.
extern "C" __global__ void hgemm_half2(const half* a, const half2* b, half2* c, int n2, int k) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (column >= n2) return;
    half2 sum = __float2half2_rn(0.f);
    for (int i = 0; i < k; i++) sum = __hfma2(__half2half2(a[row * k + i]), b[i * n2 + column], sum);
    c[row * n2 + column] = sum;
}
