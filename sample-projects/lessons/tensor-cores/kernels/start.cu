/*@ lightbench(
    title: "Begin here: each thread computes eight elements",
    steps: [
        launch(kernel: "product", grid: ["n / 16", "n / 16"], block: [32]),
    ],
) @*/

// lesson: locked, a warp computes a tile of 16 by 16 elements of c
#include <cuda_fp16.h>
#include <mma.h>

constexpr int tile = 16;

__global__ void product(const __half* __restrict__ a, const __half* __restrict__ b, float* __restrict__ c, int n) {
    const int first_row = blockIdx.y * tile;
    const int first_col = blockIdx.x * tile;
// lesson: open
    // A thread computes half of a column of the tile.
    const int col = first_col + threadIdx.x % tile;
    float sums[8] = {};
    for (int k = 0; k < n; ++k) {
        const float right = __half2float(b[k * static_cast<long long>(n) + col]);
        for (int r = 0; r < 8; ++r) {
            const int row = first_row + threadIdx.x / tile * 8 + r;
            sums[r] += __half2float(a[row * static_cast<long long>(n) + k]) * right;
        }
    }
    for (int r = 0; r < 8; ++r) {
        const int row = first_row + threadIdx.x / tile * 8 + r;
        c[row * static_cast<long long>(n) + col] = sums[r];
    }
// lesson: locked
}
