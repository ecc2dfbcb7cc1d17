// A thread block group is synchronised by its first half only.
// launch: grid=1 block=64 strict
// arg: in:i32[64]=iota
// arg: buf:i32[64]
// expect: 1[10] = 53
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void defect(const int* x, int* y) {
    __shared__ int s[64];
    auto block = cg::this_thread_block();
    unsigned t = block.thread_rank();
    s[t] = x[t];
    if (t < 32) {
        cg::sync(block); // FAULT: barrier_divergence
        y[t] = s[63 - t];
    } else {
        y[t] = 1;
        y[t] += x[t];
    }
}

extern "C" __global__ void fixed(const int* x, int* y) {
    __shared__ int s[64];
    auto block = cg::this_thread_block();
    unsigned t = block.thread_rank();
    s[t] = x[t];
    cg::sync(block);
    y[t] = s[63 - t];
}
