/*@ lightbench(
    title: "Two buffers, one of which is being filled",
    steps: [
        launch(kernel: "shifted", grid: ["ceil_div(rows, 8)"], block: [256]),
    ],
) @*/

// lesson: locked, a block of 256 threads computes eight rows of 1,024 numbers, each from shared memory
#include <cuda_pipeline.h>

constexpr int width = 1024;
constexpr int rows_per_block = 8;

// Subtracts the maximum of the row in shared memory. Every thread of the block takes part, with its four numbers.
__device__ void finish(const float* row, float* largest_of, float* __restrict__ to) {
    const int t = threadIdx.x;
    const float4 own = *reinterpret_cast<const float4*>(row + 4 * t);
    float largest = fmaxf(fmaxf(own.x, own.y), fmaxf(own.z, own.w));
    for (int distance = 16; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
    }
    if (t % 32 == 0) {
        largest_of[t / 32] = largest;
    }
    __syncthreads();
    for (int warp = 0; warp < 8; ++warp) {
        largest = fmaxf(largest, largest_of[warp]);
    }
    const float4 result = make_float4(own.x - largest, own.y - largest, own.z - largest, own.w - largest);
    *reinterpret_cast<float4*>(to + 4 * t) = result;
    __syncthreads();
}

__global__ void shifted(const float* __restrict__ x, float* __restrict__ y, int rows) {
    __shared__ float largest_of[8];
    const int t = threadIdx.x;
    const int first = blockIdx.x * rows_per_block;
    const int count = min(rows_per_block, rows - first);
// lesson: open
    __shared__ __align__(16) float tiles[2][width];
    auto copy = [&](int r) {
        const long long at = (first + r) * static_cast<long long>(width);
        __pipeline_memcpy_async(tiles[r % 2] + 4 * t, x + at + 4 * t, 16);
    };
    copy(0);
    __pipeline_commit();
    for (int r = 0; r < count; ++r) {
        // The copy of the next row runs while this one is computed.
        if (r + 1 < count) {
            copy(r + 1);
        }
        __pipeline_commit();
        // All groups but the newest have arrived.
        __pipeline_wait_prior(1);
        __syncthreads();
        finish(tiles[r % 2], largest_of, y + (first + r) * static_cast<long long>(width));
    }
// lesson: locked
}
