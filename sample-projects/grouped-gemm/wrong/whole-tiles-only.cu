/*@ lightbench(
    title: "Leaves out the last tile of a group",
    arch: specific,
    expect: wrong(unwritten),
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["64", "64"], swizzle: b128),
        (name: "b_map", tensor: "b", shape: ["groups * n", "k"], box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "grouped_gemm", args: ["a_map", "offsets", "b_map", "c", "n", "k"],
               grid: ["ceil_div(tokens, 64)", "ceil_div(n, 64)", "groups"], block: [128], shared: "3 * 8192 + 2048"),
    ],
) @*/

// The mistake: a group has rows / 64 tiles, rounded down.
// How it shows: the last rows of a group are not written. What stands there may be the result of an earlier call.

#include "one-warpgroup.cuh"

using namespace one_warpgroup;

__global__ void __launch_bounds__(128)
grouped_gemm(const __grid_constant__ CUtensorMap a_map, const int* __restrict__ offsets,
             const __grid_constant__ CUtensorMap b_map, bf16* __restrict__ c, int n, int k) {
    Shared& shared = place();
    const int first_row = offsets[blockIdx.z] + blockIdx.x * side;
    if (first_row + side > offsets[blockIdx.z + 1]) {
        return;
    }
    multiply_tile(shared, a_map, b_map, first_row, blockIdx.z * n + blockIdx.y * side, k);
    store_rows(shared, c, first_row, side, blockIdx.y * side, n);
}
