// arch: 80
// One product of each other type that wmma has: s8, u8, s4, single bits, bf16, tf32, f64.
#include <mma.h>
#include <cuda_bf16.h>
using namespace nvcuda;
template <typename In, typename Out, int M, int N, int K> __device__ void product(const In* a, const In* b, Out* c) {
    wmma::fragment<wmma::matrix_a, M, N, K, In, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, In, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Out> fc;
    wmma::fill_fragment(fc, Out(0));
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
}
extern "C" __global__ void wmma_s8(const signed char* a, const signed char* b, int* c) { product<signed char, int, 16, 16, 16>(a, b, c); product<signed char, int, 32, 8, 16>(a, b, c + 256); }
extern "C" __global__ void wmma_u8(const unsigned char* a, const unsigned char* b, int* c) { product<unsigned char, int, 8, 32, 16>(a, b, c); }
extern "C" __global__ void wmma_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c) { product<__nv_bfloat16, float, 16, 16, 16>(a, b, c); }
extern "C" __global__ void wmma_f64(const double* a, const double* b, double* c) { product<double, double, 8, 8, 4>(a, b, c); }
extern "C" __global__ void wmma_tf32(const float* a, const float* b, float* c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    wmma::load_matrix_sync(fa, a, 8);
    wmma::load_matrix_sync(fb, b, 8);
    for (int i = 0; i < fa.num_elements; i++) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
    for (int i = 0; i < fb.num_elements; i++) fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
