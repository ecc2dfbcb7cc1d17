/*@ lightbench(
    title: "DevicePartition::If of CUB: one pass with decoupled look-back",
    scratch: [
        (name: "states", dtype: u64, shape: ["ceil_div(n, 1024) + 64"], init: undefined),
        (name: "selected", dtype: i32, shape: ["1"], init: undefined),
    ],
    steps: [
        launch(kernel: "init", args: ["states", "ceil_div(n, 1024): i32"], grid: ["ceil_div(ceil_div(n, 1024) + 32, 128)"], block: [128]),
        launch(kernel: "partition", args: ["x", "y", "states", "selected", "n", "ceil_div(n, 1024): i32"], grid: ["ceil_div(n, 1024)"], block: [128]),
    ],
) @*/

#include <cub/agent/agent_select_if.cuh>

struct IsEven {
    __device__ bool operator()(unsigned x) const { return x % 2 == 0; }
};

// All elements are one partition.
struct Context {
    using total_num_items_t = int;
    __device__ int input_offset() const { return 0; }
    __device__ bool is_first_partition() const { return true; }
    __device__ int num_previously_selected() const { return 0; }
    __device__ int num_previously_rejected() const { return 0; }
    __device__ int num_total_items(int count) const { return count; }
    template <typename Iterator>
    __device__ void update_num_selected(Iterator to, int count) const { *to = count; }
};

using Policy = cub::AgentSelectIfPolicy<128, 8, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::LOAD_DEFAULT, cub::BLOCK_SCAN_WARP_SCANS>;
using Agent = cub::detail::select::AgentSelectIf<Policy, const unsigned*, cub::NullType*, unsigned*, IsEven, cub::NullType, int, Context,
                                                 cub::SelectImpl::Partition>;
using State = cub::ScanTileState<int>;

__device__ State state_of(unsigned long long* states, int tiles) {
    State state;
    state.Init(tiles, states, (tiles + 32) * sizeof(unsigned long long));
    return state;
}

__global__ void init(unsigned long long* states, int tiles) {
    state_of(states, tiles).InitializeStatus(tiles);
}

__global__ void __launch_bounds__(128) partition(const unsigned* x, unsigned* y, unsigned long long* states, int* selected, int n, int tiles) {
    __shared__ typename Agent::TempStorage storage;
    State state = state_of(states, tiles);
    Agent(storage, x, nullptr, y, IsEven{}, cub::NullType{}, n, Context{}).ConsumeRange(tiles, state, selected);
}
