/*@ lightbench(
    title: "One group for all rows of a tile",
    arch: specific,
    expect: wrong(numeric),
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["64", "64"], swizzle: b128),
        (name: "b_map", tensor: "b", shape: ["groups * n", "k"], box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "grouped_gemm", args: ["a_map", "offsets", "b_map", "c", "tokens", "n", "k"],
               grid: ["ceil_div(tokens, 64)", "ceil_div(n, 64)"], block: [128], shared: "3 * 8192 + 2048"),
    ],
) @*/

// The mistake: tiles are cut from the rows of a, without regard to groups, and a tile takes the group of its first row.
// How it shows: rows of a tile that belong to the next group are multiplied by the wrong matrix.

#include "one-warpgroup.cuh"

using namespace one_warpgroup;

__global__ void __launch_bounds__(128)
grouped_gemm(const __grid_constant__ CUtensorMap a_map, const int* __restrict__ offsets,
             const __grid_constant__ CUtensorMap b_map, bf16* __restrict__ c, int tokens, int n, int k) {
    Shared& shared = place();
    const int first_row = blockIdx.x * side;
    int group = 0;
    while (first_row >= offsets[group + 1]) {
        ++group;
    }
    multiply_tile(shared, a_map, b_map, first_row, group * n + blockIdx.y * side, k);
    store_rows(shared, c, first_row, tokens - first_row, blockIdx.y * side, n);
}
