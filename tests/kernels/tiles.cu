// Cooperative groups below the grid: reductions and scans over tiles of 4 and 16, shuffles and votes in a tile, a
// coalesced group that shares one atomic, partitions by label.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tile_groups(const int* x, int* largest, int* prefix, int* neighbours, int* labels, int n) {
    cg::thread_block block = cg::this_thread_block();
    auto tile16 = cg::tiled_partition<16>(block);
    auto tile4 = cg::tiled_partition<4>(tile16);
    int i = block.group_index().x * block.size() + block.thread_rank(), v = x[i];
    int m = cg::reduce(tile16, v, cg::greater<int>());
    if (tile16.thread_rank() == 0) largest[i / 16] = m;
    prefix[i] = cg::exclusive_scan(tile4, v);
    neighbours[i] = tile4.shfl_xor(v, 1) + tile16.shfl_down(v, 3) + (tile4.any(v > 90) ? 1000 : 0) + tile16.meta_group_rank() * 10000;
    auto warp = cg::tiled_partition<32>(block);
    auto same = cg::labeled_partition(warp, v % 3);
    labels[i] = cg::reduce(same, 1, cg::plus<int>()) * 100 + same.thread_rank();
}

__device__ int aggregated_increment(int* counter) {
    cg::coalesced_group active = cg::coalesced_threads();
    int before = 0;
    if (active.thread_rank() == 0) before = atomicAdd(counter, (int)active.num_threads());
    return active.shfl(before, 0) + active.thread_rank();
}

extern "C" __global__ void filter_positive(const int* in, int* out, int* counter, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        if (in[i] > 0) out[aggregated_increment(counter)] = in[i];
}
