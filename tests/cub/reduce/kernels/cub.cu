/*@ lightbench(
    title: "DeviceReduce::Sum of CUB: even shares, then one tile",
    scratch: [(name: "sums", dtype: u32, shape: ["min(8, ceil_div(n, 1024))"], init: undefined)],
    steps: [
        launch(kernel: "partial_sums", args: ["x", "sums", "n"], grid: ["min(8, ceil_div(n, 1024))"], block: [128]),
        launch(kernel: "single_tile", args: ["sums", "y", "min(8, ceil_div(n, 1024)): i32"], grid: [1], block: [128]),
    ],
) @*/

#include <cub/agent/agent_reduce.cuh>
#include <cub/grid/grid_even_share.cuh>
#include <cuda/std/functional>

using Policy = cub::detail::agent_reduce_policy<128, 8, unsigned, 4, cub::BLOCK_REDUCE_WARP_REDUCTIONS, cub::LOAD_LDG>;
using Agent = cub::detail::reduce::AgentReduce<Policy, const unsigned*, int, cuda::std::plus<>, unsigned>;

__global__ void __launch_bounds__(128) partial_sums(const unsigned* x, unsigned* sums, int n) {
    __shared__ typename Agent::TempStorage storage;
    cub::GridEvenShare<int> share;
    share.DispatchInit(n, gridDim.x, 1024);
    const unsigned sum = Agent(storage, x, cuda::std::plus<>{}).ConsumeTiles(share);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}

__global__ void __launch_bounds__(128) single_tile(const unsigned* sums, unsigned* y, int count) {
    __shared__ typename Agent::TempStorage storage;
    const unsigned sum = Agent(storage, sums, cuda::std::plus<>{}).ConsumeRange(0, count);
    if (threadIdx.x == 0) {
        *y = sum;
    }
}
