// arch: 80
// C = A B with wmma, f16 in, f32 out, 32 x 32 a block of four warps, tiles staged in shared memory; sizes are multiples of 32.
#include <mma.h>
using namespace nvcuda;

const int BLOCK_TILE = 32, K_TILE = 16, SKEW = 8;

extern "C" __global__ void wmma_gemm(const half *A, const half *B, float *C, int M, int N, int K) {
    __shared__ half As[BLOCK_TILE][K_TILE + SKEW];
    __shared__ half Bs[K_TILE][BLOCK_TILE + SKEW];
    const int warp = threadIdx.x / 32, warp_row = warp / 2, warp_col = warp % 2;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int k0 = 0; k0 < K; k0 += K_TILE) {
        for (int i = threadIdx.x; i < BLOCK_TILE * K_TILE; i += blockDim.x) {
            As[i / K_TILE][i % K_TILE] = A[(blockIdx.y * BLOCK_TILE + i / K_TILE) * K + k0 + i % K_TILE];
            Bs[i / BLOCK_TILE][i % BLOCK_TILE] = B[(k0 + i / BLOCK_TILE) * N + blockIdx.x * BLOCK_TILE + i % BLOCK_TILE];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
        wmma::load_matrix_sync(a, &As[warp_row * 16][0], K_TILE + SKEW);
        wmma::load_matrix_sync(b, &Bs[0][warp_col * 16], BLOCK_TILE + SKEW);
        wmma::mma_sync(acc, a, b, acc);
        __syncthreads();
    }
    for (int i = 0; i < acc.num_elements; i++) acc.x[i] = fmaxf(acc.x[i], -1e30f);
    wmma::store_matrix_sync(C + (blockIdx.y * BLOCK_TILE + warp_row * 16) * N + blockIdx.x * BLOCK_TILE + warp_col * 16, acc, N, wmma::mem_row_major);
}
