// A group copies a tile together and computes with it before the group has waited.
// launch: grid=1 block=32
// arg: in:f32[32]=iota
// arg: buf:f32[32]
// expect: 1[0] = 31
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;

extern "C" __global__ void defect(const float* in, float* out) {
    __shared__ alignas(16) float s[32];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof(s)); // OTHER
    block.sync();
    out[threadIdx.x] = s[31 - threadIdx.x]; // FAULT: missing_wait
}

extern "C" __global__ void fixed(const float* in, float* out) {
    __shared__ alignas(16) float s[32];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, sizeof(s));
    cg::wait(block);
    out[threadIdx.x] = s[31 - threadIdx.x];
}
