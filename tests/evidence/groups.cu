// Cooperative groups bring an assertion and assembly along.
// candidate:
// toolkit: trap inline_assembly
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void k(int *out) {
    cg::this_grid().sync();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    out[0] = warp.shfl_down(out[1], 1);
}
