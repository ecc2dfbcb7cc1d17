/*@ lightbench(
    title: "Waits for the first phase every time",
    arch: specific,
    expect: fault,
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["64", "64"], swizzle: b128),
        (name: "b_map", tensor: "b", box: ["64", "64"], swizzle: b128),
        (name: "c_map", tensor: "c", box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "hgemm", args: ["a_map", "b_map", "c_map", "k"],
               grid: ["ceil_div(m, 64)", "ceil_div(n, 64)"], block: [128], shared: "7 * 8192 + 2048"),
    ],
) @*/

// The mistake: the parity of the phase changes each time a stage is filled. With the parity of the first phase, a
// wait for the second one returns at once.
// How it shows: right up to k = 192, which is as many steps as there are stages; beyond, tiles are multiplied
// before they have arrived, or the wait never ends.

#include "one-warpgroup.cuh"

using namespace one_warpgroup;

__global__ void __launch_bounds__(128)
hgemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
      const __grid_constant__ CUtensorMap c_map, int k) {
    Shared& shared = place();
    const int steps = (k + tile - 1) / tile;
    begin(shared);
    if (threadIdx.x == 0) {
        for (int step = 0; step < min(steps, stages); ++step) {
            copy(shared, a_map, b_map, step);
        }
    }
    float sums[tile / 2] = {};
    for (int step = 0; step < steps; ++step) {
        wait(&shared.full[step % stages], 0);
        fence_products();
        multiply_step(shared, sums, step);
        wait_products<0>();
        // The stage is free when all four warps have waited.
        __syncthreads();
        if (threadIdx.x == 0 && step + stages < steps) {
            copy(shared, a_map, b_map, step + stages);
        }
    }
    write_tile(shared, sums);
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_tile(shared, c_map);
        wait_stores_read<0>();
    }
}
