/*@ lightbench(
    title: "The scale of the block after",
    arch: specific,
    expect: wrong(numeric),
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["64", "128"], swizzle: b128),
        (name: "a_scale_map", tensor: "a_scale", box: ["1", "64"]),
        (name: "b_map", tensor: "b", box: ["128", "128"], swizzle: b128),
        (name: "c_map", tensor: "c", box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "fp8_gemm", args: ["a_map", "a_scale_map", "b_map", "b_scale", "c_map", "k"],
               grid: ["ceil_div(m, 64)", "ceil_div(n, 128)"], block: [128], shared: "3 * 24832 + 2 * 8192 + 2048"),
    ],
) @*/

// The mistake: the scales of b are read one step ahead, and are used one step too early.
// How it shows: unless the scales of adjacent blocks of b are equal, or k is one block.

#include "one-block.cuh"

using namespace one_block;

__global__ void __launch_bounds__(128)
fp8_gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap a_scale_map,
         const __grid_constant__ CUtensorMap b_map, const float* __restrict__ b_scale,
         const __grid_constant__ CUtensorMap c_map, int k) {
    Shared& shared = place();
    const int steps = (k + depth - 1) / depth;
    const float* const scales_of_b = b_scale + static_cast<long long>(blockIdx.y) * steps;
    begin(shared);
    if (threadIdx.x == 0) {
        for (int step = 0; step < min(steps, stages); ++step) {
            copy(shared, a_map, a_scale_map, b_map, step);
        }
    }
    const int row = upper_row();
    float totals[64] = {};
    float sums[64] = {};
    for (int step = 0; step < steps; ++step) {
        const int stage = step % stages;
        wait(&shared.full[stage], step / stages % 2);
        const float upper = shared.a_scale[stage][row] * scales_of_b[min(step + 1, steps - 1)];
        const float lower = shared.a_scale[stage][row + 8] * scales_of_b[min(step + 1, steps - 1)];
        multiply_block(sums, shared.a[stage], shared.b[stage]);
        wait_products<0>();
        __syncthreads();
        if (threadIdx.x == 0 && step + stages < steps) {
            copy(shared, a_map, a_scale_map, b_map, step + stages);
        }
        promote(totals, sums, upper, lower);
    }
    finish(shared, c_map, totals);
}
