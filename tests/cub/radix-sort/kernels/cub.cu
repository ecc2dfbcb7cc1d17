/*@ lightbench(
    title: "DeviceRadixSort::SortKeys of CUB: four passes of onesweep",
    scratch: [
        (name: "bins", dtype: u32, shape: ["1024"], init: zero_each_launch),
        (name: "starts", dtype: u32, shape: ["1024"], init: undefined),
        (name: "lookback", dtype: u32, shape: ["4 * 256 * ceil_div(n, 512)"], init: zero_each_launch),
        (name: "counters", dtype: u32, shape: ["4"], init: zero_each_launch),
        (name: "other", dtype: u32, shape: ["n"], init: undefined),
    ],
    steps: [
        launch(kernel: "histogram", args: ["bins", "x", "n"], grid: ["ceil_div(n, 512)"], block: [128]),
        launch(kernel: "exclusive_sum", args: ["bins", "starts"], grid: [4], block: [256]),
        launch(kernel: "onesweep", args: ["lookback", "counters", "starts", "other", "x", "n", "0: i32"], grid: ["ceil_div(n, 512)"], block: [128]),
        launch(kernel: "onesweep", args: ["lookback", "counters", "starts", "y", "other", "n", "1: i32"], grid: ["ceil_div(n, 512)"], block: [128]),
        launch(kernel: "onesweep", args: ["lookback", "counters", "starts", "other", "y", "n", "2: i32"], grid: ["ceil_div(n, 512)"], block: [128]),
        launch(kernel: "onesweep", args: ["lookback", "counters", "starts", "y", "other", "n", "3: i32"], grid: ["ceil_div(n, 512)"], block: [128]),
    ],
) @*/

#include <cub/agent/agent_radix_sort_histogram.cuh>
#include <cub/agent/agent_radix_sort_onesweep.cuh>
#include <cub/block/block_scan.cuh>

using HistogramPolicy = cub::AgentRadixSortHistogramPolicy<128, 4, 1, unsigned, 8>;
using Histogram = cub::detail::radix_sort::AgentRadixSortHistogram<HistogramPolicy, false, unsigned, unsigned>;
using Policy = cub::AgentRadixSortOnesweepPolicy<128, 4, unsigned, 1, cub::RADIX_RANK_MATCH_EARLY_COUNTS_ANY,
                                                             cub::BLOCK_SCAN_WARP_SCANS, cub::RADIX_SORT_STORE_DIRECT, 8>;
using Onesweep = cub::detail::radix_sort::AgentRadixSortOnesweep<Policy, false, unsigned, cub::NullType, unsigned, int>;

__global__ void __launch_bounds__(128) histogram(unsigned* bins, const unsigned* x, int n) {
    __shared__ typename Histogram::TempStorage storage;
    Histogram(storage, bins, x, static_cast<unsigned>(n), 0, 32).Process();
}

__global__ void __launch_bounds__(256) exclusive_sum(const unsigned* bins, unsigned* starts) {
    using Scan = cub::BlockScan<unsigned, 256>;
    __shared__ typename Scan::TempStorage storage;
    unsigned start;
    Scan(storage).ExclusiveSum(bins[blockIdx.x * 256 + threadIdx.x], start);
    starts[blockIdx.x * 256 + threadIdx.x] = start;
}

__global__ void __launch_bounds__(128) onesweep(unsigned* lookback, unsigned* counters, unsigned* starts, unsigned* out,
                                                const unsigned* in, int n, int pass) {
    __shared__ typename Onesweep::TempStorage storage;
    unsigned* const own = lookback + pass * 256 * ((n + 511) / 512);
    Onesweep(storage, reinterpret_cast<int*>(own), reinterpret_cast<int*>(counters) + pass, nullptr, starts + pass * 256, out,
             in, nullptr, nullptr, n, 8 * pass, 8).Process();
}
