// The loop arrives at the cluster barrier in every round and waits once at its end.
// launch: grid=2 block=32
// arg: buf:u32[64]
// expect: 0[3] = 101
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ unsigned value;
    const unsigned rank = rank_in_cluster();
    for (unsigned round = 0; round < 2; ++round) {
        if (threadIdx.x == 0) value = 100 * rank + round;
        cluster_arrive(); // FAULT: barrier_divergence
        if (is_fixed) cluster_wait();
    }
    if (!is_fixed) cluster_wait();
    out[32 * blockIdx.x + threadIdx.x] = read_at(&value, 1 - rank);
    cluster_barrier();
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) fixed(unsigned* out) {
    run<true>(out);
}
