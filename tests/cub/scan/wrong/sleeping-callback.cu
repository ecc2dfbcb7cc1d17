/*@ lightbench(
    title: "A function of the kernel's own that CUB calls while it waits",
    expect: refused(sleeps),
    scratch: [(name: "states", dtype: u64, shape: ["ceil_div(n, 1024) + 64"], init: undefined)],
    steps: [
        launch(kernel: "init", args: ["states", "ceil_div(n, 1024): i32"], grid: ["ceil_div(ceil_div(n, 1024) + 32, 128)"], block: [128]),
        launch(kernel: "scan", args: ["x", "y", "states", "n", "ceil_div(n, 1024): i32"], grid: ["ceil_div(n, 1024)"], block: [128]),
    ],
) @*/

#include <cub/agent/agent_scan.cuh>
#include <cuda/std/functional>

struct Delay {
    struct Wait {
        __device__ void operator()() const { __nanosleep(100); }
    };
    __device__ Delay(unsigned) {}
    __device__ Wait operator()() const { return {}; }
};

using Policy = cub::AgentScanPolicy<128, 8, unsigned, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::LOAD_DEFAULT,
                                    cub::BLOCK_STORE_WARP_TRANSPOSE, cub::BLOCK_SCAN_WARP_SCANS,
                                    cub::detail::MemBoundScaling<128, 8, unsigned>, Delay>;
using Agent = cub::detail::scan::AgentScan<Policy, const unsigned*, unsigned*, cuda::std::plus<>, cub::NullType, int, unsigned>;
using State = cub::ScanTileState<unsigned>;

__device__ State state_of(unsigned long long* states, int tiles) {
    State state;
    state.Init(tiles, states, (tiles + 32) * sizeof(unsigned long long));
    return state;
}

__global__ void init(unsigned long long* states, int tiles) {
    state_of(states, tiles).InitializeStatus(tiles);
}

__global__ void __launch_bounds__(128) scan(const unsigned* x, unsigned* y, unsigned long long* states, int n, int tiles) {
    __shared__ typename Agent::TempStorage storage;
    State state = state_of(states, tiles);
    Agent(storage, x, y, cuda::std::plus<>{}, cub::NullType{}).ConsumeRange(n, state, 0);
}
