// A block without work returns before the cluster barrier, and its peer reads its memory.
// launch: grid=2 block=32
// arg: buf:u32[64]=0
// arg: u32:1
// expect: 0[3] = 103
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out, unsigned blocks) {
    __shared__ unsigned values[32];
    const unsigned rank = rank_in_cluster();
    values[threadIdx.x] = 100 * rank + threadIdx.x;
    const bool has_work = blockIdx.x < blocks;
    if (!is_fixed && !has_work) return;
    cluster_barrier();
    if (has_work) out[32 * blockIdx.x + threadIdx.x] = read_at(&values[threadIdx.x], 1 - rank); // FAULT: out_of_bounds
    cluster_barrier();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) defect(unsigned* out, unsigned blocks) {
    run<false>(out, blocks);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(unsigned* out, unsigned blocks) {
    run<true>(out, blocks);
}
