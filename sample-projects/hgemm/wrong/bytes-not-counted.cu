/*@ lightbench(
    title: "Expects more bytes than come",
    arch: specific,
    expect: fault(livelock),
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

// The mistake: the copies bring 16,384 bytes and the barrier object waits for 16,400. No phase completes.
// How it shows: the kernel never ends.

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
            copy(shared, a_map, b_map, step, stage_bytes + 16);
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
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_tile(shared, c_map);
        wait_stores_read<0>();
    }
}
