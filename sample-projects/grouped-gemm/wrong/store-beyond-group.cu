/*@ lightbench(
    title: "Stores whole boxes",
    arch: specific,
    expect: fault(data_race),
    tensor_maps: [
        (name: "a_map", tensor: "a", box: ["64", "64"], swizzle: b128),
        (name: "b_map", tensor: "b", shape: ["groups * n", "k"], box: ["64", "64"], swizzle: b128),
        (name: "c_map", tensor: "c", box: ["64", "64"], swizzle: b128),
    ],
    steps: [
        launch(kernel: "grouped_gemm", args: ["a_map", "offsets", "b_map", "c_map", "n", "k"],
               grid: ["ceil_div(tokens, 64)", "ceil_div(n, 64)", "groups"], block: [128], shared: "3 * 8192 + 2048"),
    ],
) @*/

// The mistake: every tile of 64 rows leaves by the copy engine, which keeps out of what lies beyond c, but not out of the
// rows of the next group.
// How it shows: the first rows of a group are those of whichever block is later, its own or the one before. Groups of
// multiples of 64 rows hide it.

#include "one-warpgroup.cuh"

using namespace one_warpgroup;

__global__ void __launch_bounds__(128)
grouped_gemm(const __grid_constant__ CUtensorMap a_map, const int* __restrict__ offsets,
             const __grid_constant__ CUtensorMap b_map, const __grid_constant__ CUtensorMap c_map, int n,
             int k) {
    Shared& shared = place();
    const int first_row = offsets[blockIdx.z] + blockIdx.x * side;
    if (first_row >= offsets[blockIdx.z + 1]) {
        return;
    }
    multiply_tile(shared, a_map, b_map, first_row, blockIdx.z * n + blockIdx.y * side, k);
    if (threadIdx.x == 0) {
        store(c_map, shared.c, blockIdx.y * side, first_row);
        commit_stores();
        wait_stores_read<0>();
    }
}
