/*@ lightbench(
    title: "Numbers only groups that have rows",
    arch: specific,
    expect: wrong(numeric),
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["64", "64"], swizzle: b128),
        (name: "b_map", tensor: "b", shape: ["groups * n", "k"], box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "grouped_gemm", args: ["a_map", "offsets", "b_map", "c", "n", "k"],
               grid: ["ceil_div(tokens, 64)", "ceil_div(n, 64)", "groups"], block: [128], shared: "3 * 8192 + 2048"),
    ],
) @*/

// The mistake: empty groups are not counted, so that a group takes the matrix of an earlier one.
// How it shows: only where a group is empty.

#include "one-warpgroup.cuh"

using namespace one_warpgroup;

__global__ void __launch_bounds__(128)
grouped_gemm(const __grid_constant__ CUtensorMap a_map, const int* __restrict__ offsets,
             const __grid_constant__ CUtensorMap b_map, bf16* __restrict__ c, int n, int k) {
    Shared& shared = place();
    const int first_row = offsets[blockIdx.z] + blockIdx.x * side;
    const int rows = offsets[blockIdx.z + 1] - first_row;
    if (rows <= 0) {
        return;
    }
    int number = 0;
    for (int group = 0; group < blockIdx.z; ++group) {
        number += offsets[group + 1] > offsets[group] ? 1 : 0;
    }
    multiply_tile(shared, a_map, b_map, first_row, number * n + blockIdx.y * side, k);
    store_rows(shared, c, first_row, rows, blockIdx.y * side, n);
}
