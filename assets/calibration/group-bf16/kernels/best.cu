/*@ lightbench(
    title: "wgmma m64n256k16, the left factor in registers",
    arch: specific,
    steps: [launch(kernel: "product", grid: ["groups"], block: [128])],
) @*/
#include <cuda_bf16.h>

#define KINDS "m64n256k16.f32.bf16.bf16"
#define ORDER ", 0"
#include "warp_group.cuh"

__global__ void __launch_bounds__(128) product(const __nv_bfloat16* a, const __nv_bfloat16* b, float* y, long long steps) {
    // Eight columns by 16 bytes of each are one brick, two bricks cover the terms.
    __shared__ __align__(128) __nv_bfloat16 columns[256 * 16];
    for (int i = threadIdx.x; i < 256 * 16; i += 128) {
        const int term = i / 256, column = i % 256;
        columns[(column / 8 * 2 + term / 8) * 64 + column % 8 * 8 + term % 8] = b[i];
    }
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // Of a 16 by 16 part, a thread has two neighbours in each quarter.
    const int row = warp * 16 + lane / 4, column = lane % 4 * 2;
    const unsigned* pairs = reinterpret_cast<const unsigned*>(a);
    const unsigned left[4] = {
        pairs[(row * 16 + column) / 2], pairs[((row + 8) * 16 + column) / 2],
        pairs[(row * 16 + column + 8) / 2], pairs[((row + 8) * 16 + column + 8) / 2],
    };
    publish();
    multiplied(left, bricks(columns), y, steps, warp, lane);
}
