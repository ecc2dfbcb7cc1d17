/*@ lightbench(
    title: "Begin here: each row is loaded when it is needed",
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
    __shared__ __align__(16) float tile[width];
    for (int r = 0; r < count; ++r) {
        const long long at = (first + r) * static_cast<long long>(width);
        // Through registers: the store to shared memory waits for the load.
        *reinterpret_cast<float4*>(tile + 4 * t) = *reinterpret_cast<const float4*>(x + at + 4 * t);
        __syncthreads();
        finish(tile, largest_of, y + at);
    }
// lesson: locked
}
