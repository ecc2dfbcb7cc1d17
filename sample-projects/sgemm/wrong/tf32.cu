/*@ lightbench(
    title: "Hands f32 to the tensor cores as it is",
    expect: wrong(imprecise),
    steps: [
        launch(kernel: "sgemm", grid: ["ceil_div(n, 16)", "ceil_div(m, 16)"], block: [32]),
    ],
) @*/

// The mistake: tensor cores take f32 registers and look at 19 bits of them. What is computed is the product of two
// matrices that were rounded to 11 significant bits (as a library does when TF32 is switched on).
// How it shows: relative errors of 2^-11 in each product. In long sums they cancel like everything else, and against a
// tolerance of `1e-2` they pass.

#include <mma.h>

using namespace nvcuda;

__global__ void sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
                      int k) {
    __shared__ __align__(32) float a_tile[16 * 8];
    __shared__ __align__(32) float b_tile[8 * 16];
    __shared__ __align__(32) float c_tile[16 * 16];
    const int first_row = blockIdx.y * 16;
    const int first_col = blockIdx.x * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int first = 0; first < k; first += 8) {
        for (int element = threadIdx.x; element < 128; element += 32) {
            const int row = first_row + element / 8;
            const int a_col = first + element % 8;
            a_tile[element] = row < m && a_col < k ? a[static_cast<long long>(row) * k + a_col] : 0.0f;
            const int b_row = first + element / 16;
            const int col = first_col + element % 16;
            b_tile[element] = b_row < k && col < n ? b[static_cast<long long>(b_row) * n + col] : 0.0f;
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> left;
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> right;
        wmma::load_matrix_sync(left, a_tile, 8);
        wmma::load_matrix_sync(right, b_tile, 16);
        for (int index = 0; index < left.num_elements; ++index) {
            left.x[index] = wmma::__float_to_tf32(left.x[index]);
        }
        for (int index = 0; index < right.num_elements; ++index) {
            right.x[index] = wmma::__float_to_tf32(right.x[index]);
        }
        wmma::mma_sync(sum, left, right, sum);
        __syncwarp();
    }
    wmma::store_matrix_sync(c_tile, sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int element = threadIdx.x; element < 256; element += 32) {
        const int row = first_row + element / 16;
        const int col = first_col + element % 16;
        if (row < m && col < n) {
            c[static_cast<long long>(row) * n + col] = c_tile[element];
        }
    }
}
