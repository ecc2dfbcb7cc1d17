// One 16 x 16 x 16 product a warp, f16 in, f32 out; and the tall and wide shapes with f16 sums.
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void wmma_half(const half* a, const half* b, float* c, int k) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(fa, a + i, k);
        wmma::load_matrix_sync(fb, b + i, k);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
template <int M, int N> __device__ void shape(const half* a, const half* b, half* c) {
    wmma::fragment<wmma::matrix_a, M, N, 16, half, wmma::col_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, M, N, 16, half> fc;
    wmma::load_matrix_sync(fa, a, M);
    wmma::load_matrix_sync(fb, b, N);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, M, wmma::mem_col_major);
}
extern "C" __global__ void wmma_tall(const half* a, const half* b, half* c) { shape<32, 8>(a, b, c); }
extern "C" __global__ void wmma_wide(const half* a, const half* b, half* c) { shape<8, 32>(a, b, c); }
