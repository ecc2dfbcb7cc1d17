/*@ lightbench(
    title: "Four accumulators a warp",
    steps: [launch(kernel: "product", grid: ["warps // 8"], block: [256])],
) @*/
#include <mma.h>

using namespace nvcuda;

__global__ void product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* y, long long steps) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4];
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, b, 16);
#pragma unroll
    for (int k = 0; k < 4; ++k) wmma::fill_fragment(sum[k], 0.0f);
    for (long long step = 0; step < steps; ++step)
#pragma unroll
        for (int k = 0; k < 4; ++k) wmma::mma_sync(sum[k], left, right, sum[k]);
#pragma unroll
    for (int k = 1; k < 4; ++k)
        for (int i = 0; i < sum[0].num_elements; ++i) sum[0].x[i] += sum[k].x[i];
    const long long warp = blockIdx.x * 8LL + threadIdx.x / 32;
    wmma::store_matrix_sync(y + warp * 256, sum[0], 16, wmma::mem_row_major);
}
