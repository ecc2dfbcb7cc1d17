/*@ lightbench(
    title: "Tensor cores: each f32 as the sum of two TF32, three products",
    steps: [
        launch(kernel: "sgemm", grid: ["ceil_div(n, 64)", "ceil_div(m, 64)"], block: [128]),
    ],
) @*/

// Against all others: another pipe. Tensor cores multiply TF32, which has 11 significant bits where f32 has 24, so
// simply handing them f32 loses half of each number (`wrong/tf32`). But x = high + low, with high the nearest TF32 and
// low the nearest TF32 to what is left, holds 22 bits; and a * b = high * high + high * low + low * high, where only
// the last and smallest product is dropped. Three products at seven times the rate of f32: still ahead.
//
// Tensor cores may cut off where they should round, always in the same direction. So each 16 steps along k are added
// up from zero and then added to the sum by an ordinary, rounded f32 addition.

#if __CUDA_ARCH__ >= 800

#include <mma.h>

using namespace nvcuda;

constexpr int tile_size = 64;
constexpr int depth = 16;
constexpr int stride_a = depth + 4;  // floats; a multiple of 16 bytes, and rows in different banks
constexpr int stride_b = tile_size + 4;
constexpr int stride_c = tile_size + 4;

template <typename Fragment>
__device__ void split(const Fragment& whole, Fragment& high, Fragment& low) {
#pragma unroll
    for (int index = 0; index < whole.num_elements; ++index) {
        high.x[index] = wmma::__float_to_tf32(whole.x[index]);
        low.x[index] = wmma::__float_to_tf32(whole.x[index] - high.x[index]);
    }
}

__global__ void __launch_bounds__(128)
sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
    // The tile of c is laid over those of a and b, when they are not needed any more.
    __shared__ __align__(32) float shared[tile_size * stride_c];
    float* a_tile = shared;
    float* b_tile = shared + tile_size * stride_a;
    static_assert(tile_size * stride_a + depth * stride_b <= tile_size * stride_c, "both tiles fit");
    const int first_row = blockIdx.y * tile_size;
    const int first_col = blockIdx.x * tile_size;
    const int warp_row = threadIdx.x / 64 * 32;  // four warps, 32 x 32 elements of c each
    const int warp_col = threadIdx.x / 32 % 2 * 32;

    using Sum = wmma::fragment<wmma::accumulator, 16, 16, 8, float>;
    using Left = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
    using Right = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
    Sum sums[2][2];
#pragma unroll
    for (int part = 0; part < 4; ++part) {
        wmma::fill_fragment(sums[part / 2][part % 2], 0.0f);
    }

    for (int first = 0; first < k; first += depth) {
        for (int element = threadIdx.x; element < tile_size * depth; element += 128) {
            const int a_row = element / depth;
            const int a_col = element % depth;
            const bool in_a = first_row + a_row < m && first + a_col < k;
            a_tile[a_row * stride_a + a_col] =
                in_a ? a[static_cast<long long>(first_row + a_row) * k + first + a_col] : 0.0f;
            const int b_row = element / tile_size;
            const int b_col = element % tile_size;
            const bool in_b = first + b_row < k && first_col + b_col < n;
            b_tile[b_row * stride_b + b_col] =
                in_b ? b[static_cast<long long>(first + b_row) * n + first_col + b_col] : 0.0f;
        }
        __syncthreads();

        Sum parts[2][2];
#pragma unroll
        for (int part = 0; part < 4; ++part) {
            wmma::fill_fragment(parts[part / 2][part % 2], 0.0f);
        }
#pragma unroll
        for (int step = 0; step < depth; step += 8) {
            Left a_high[2];
            Left a_low[2];
            Right b_high[2];
            Right b_low[2];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                Left left;
                wmma::load_matrix_sync(left, a_tile + (warp_row + 16 * half) * stride_a + step, stride_a);
                split(left, a_high[half], a_low[half]);
                Right right;
                wmma::load_matrix_sync(right, b_tile + step * stride_b + warp_col + 16 * half, stride_b);
                split(right, b_high[half], b_low[half]);
            }
#pragma unroll
            for (int part = 0; part < 4; ++part) {
                // The small products first.
                Sum& sum = parts[part / 2][part % 2];
                wmma::mma_sync(sum, a_low[part / 2], b_high[part % 2], sum);
                wmma::mma_sync(sum, a_high[part / 2], b_low[part % 2], sum);
                wmma::mma_sync(sum, a_high[part / 2], b_high[part % 2], sum);
            }
        }
#pragma unroll
        for (int part = 0; part < 4; ++part) {
#pragma unroll
            for (int index = 0; index < Sum::num_elements; ++index) {
                sums[part / 2][part % 2].x[index] += parts[part / 2][part % 2].x[index];
            }
        }
        __syncthreads();
    }

    // Which element of c a thread holds is the hardware's secret: out through shared memory, where guards are possible.
#pragma unroll
    for (int part = 0; part < 4; ++part) {
        wmma::store_matrix_sync(shared + (warp_row + part / 2 * 16) * stride_c + warp_col + part % 2 * 16,
                                sums[part / 2][part % 2], stride_c, wmma::mem_row_major);
    }
    __syncthreads();
    for (int element = threadIdx.x; element < tile_size * tile_size; element += 128) {
        const int row = element / tile_size;
        const int col = element % tile_size;
        if (first_row + row < m && first_col + col < n) {
            c[static_cast<long long>(first_row + row) * n + first_col + col] = shared[row * stride_c + col];
        }
    }
}

#else

// GPUs before compute capability 8.0 have no TF32. The same blocks, the same result, one element after the other.
__global__ void __launch_bounds__(128)
sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
    const int col = blockIdx.x * 64 + threadIdx.x % 64;
    for (int step = threadIdx.x / 64; step < 64; step += 2) {
        const int row = blockIdx.y * 64 + step;
        if (row < m && col < n) {
            float sum = 0.0f;
            for (int index = 0; index < k; ++index) {
                sum += a[static_cast<long long>(row) * k + index] * b[static_cast<long long>(index) * n + col];
            }
            c[static_cast<long long>(row) * n + col] = sum;
        }
    }
}

#endif
