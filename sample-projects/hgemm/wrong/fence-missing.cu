/*@ lightbench(
    title: "Lets the copy engine read what was just written",
    arch: specific,
    expect: fault(data_race),
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

// The mistake: ordinary stores and the copy engine reach shared memory on different ways, and a barrier orders the
// ordinary way only. `fence.proxy.async` is missing between the writes and the copy.
// How it shows: elements of the tile before, or nothing at all: on most days the stores arrive in time.

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
        wait(&shared.full[step % stages], step / stages % 2);
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
    __syncthreads();
    if (threadIdx.x == 0) {
        store_tile(shared, c_map);
        wait_stores_read<0>();
    }
}
