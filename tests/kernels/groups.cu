// Cooperative groups: tiles, coalesced threads, block and grid synchronisation.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void groups(const int* x, int* tiles, int* odd, int* total, int n) {
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int i = grid.thread_rank(), v = i < n ? x[i] : 0;
    int sum = cg::reduce(tile, v, cg::plus<int>());
    if (tile.thread_rank() == 0) tiles[i / 8] = sum;
    if (v & 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(odd, (int)active.size());
    }
    grid.sync();
    if (i == 0) { int s = 0; for (int k = 0; k < n / 8; k++) s += tiles[k]; *total = s; }
    block.sync();
}
