// A tile of 32 threads is synchronised from a branch that only sixteen take.
// launch: grid=1 block=32
// arg: in:f32[32]=1
// arg: buf:f32[32]=0
// expect: 1[0] = 16
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void defect(const float* x, float* y) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    float v = x[warp.thread_rank()];
    if (warp.thread_rank() < 16) {
        v = cg::reduce(warp, v, cg::plus<float>()); // FAULT: warp_sync
    }
    y[warp.thread_rank()] = v;
}

extern "C" __global__ void fixed(const float* x, float* y) {
    auto half = cg::tiled_partition<16>(cg::this_thread_block());
    float v = x[threadIdx.x];
    if (half.meta_group_rank() == 0) {
        v = cg::reduce(half, v, cg::plus<float>());
    }
    y[threadIdx.x] = v;
}
