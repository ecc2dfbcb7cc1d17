// Two pairs of warps synchronise at the same barrier of the block, so that a warp can meet one of the other pair.
// launch: grid=1 block=128
// arg: buf:u32[128]
// expect: 0[100] = 68
#include "hopper.cuh"

__device__ __forceinline__ void meet(int barrier) {
    asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); // FAULT: barrier_phase
}

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ unsigned values[128];
    const int pair = threadIdx.x / 64;
    values[threadIdx.x] = threadIdx.x;
    meet(is_fixed ? 1 + pair : 1);
    out[threadIdx.x] = values[threadIdx.x ^ 32];
}

extern "C" __global__ void defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(unsigned* out) {
    run<true>(out);
}
