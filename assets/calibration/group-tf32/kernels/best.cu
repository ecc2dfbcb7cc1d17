/*@ lightbench(
    title: "wgmma m64n256k8, the left factor in registers",
    arch: specific,
    steps: [launch(kernel: "product", grid: ["groups"], block: [128])],
) @*/
#define KINDS "m64n256k8.f32.tf32.tf32"
#define ORDER ""
#include "warp_group.cuh"

__global__ void __launch_bounds__(128) product(const float* a, const float* b, float* y, long long steps) {
    // Eight columns by 16 bytes of each are one brick, two bricks cover the terms.
    __shared__ __align__(128) float columns[256 * 8];
    for (int i = threadIdx.x; i < 256 * 8; i += 128) {
        const int term = i / 256, column = i % 256;
        columns[(column / 8 * 2 + term / 4) * 32 + column % 8 * 4 + term % 4] = b[i];
    }
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // Of a 16 by 8 part, a thread has one element in each quarter.
    const int row = warp * 16 + lane / 4, column = lane % 4;
    const unsigned left[4] = {
        __float_as_uint(a[row * 8 + column]), __float_as_uint(a[(row + 8) * 8 + column]),
        __float_as_uint(a[row * 8 + column + 4]), __float_as_uint(a[(row + 8) * 8 + column + 4]),
    };
    publish();
    multiplied(left, bricks(columns), y, steps, warp, lane);
}
