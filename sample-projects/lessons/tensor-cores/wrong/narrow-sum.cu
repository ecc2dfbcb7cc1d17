/*@ lightbench(
    title: "Accumulates in f16",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "product", grid: ["n / 16", "n / 16"], block: [32]),
    ],
) @*/

// The mistake: the sum has 11 significant bits, and the task asks for f32.
// How it shows: the errors grow with the number of terms and exceed the bound.

#include <cuda_fp16.h>
#include <mma.h>

constexpr int tile = 16;

__global__ void product(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c, int n) {
    const int first_row = blockIdx.y * tile;
    const int first_col = blockIdx.x * tile;
    namespace wmma = nvcuda::wmma;
    // The elements of a fragment are distributed over the registers of the warp; which thread has which is not specified.
    wmma::fragment<wmma::matrix_a, tile, tile, tile, __half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, tile, tile, tile, __half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, tile, tile, tile, __half> sum;
    wmma::fill_fragment(sum, __float2half(0.0f));
    for (int k = 0; k < n; k += tile) {
        wmma::load_matrix_sync(left, a + first_row * static_cast<long long>(n) + k, n);
        wmma::load_matrix_sync(right, b + k * static_cast<long long>(n) + first_col, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::fragment<wmma::accumulator, tile, tile, tile, float> wide;
    for (int i = 0; i < wide.num_elements; ++i) {
        wide.x[i] = __half2float(sum.x[i]);
    }
    wmma::store_matrix_sync(c + first_row * static_cast<long long>(n) + first_col, wide, n, wmma::mem_row_major);
}
