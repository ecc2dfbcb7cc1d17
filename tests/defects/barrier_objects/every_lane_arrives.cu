// The barrier object counts warps, but every lane of a warp arrives.
// launch: grid=1 block=64
// arg: buf:u32[32]
// expect: 0[3] = 35
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ unsigned values[32];
    __shared__ Barrier ready;
    begin(&ready);
    if (threadIdx.x >= 32) {
        values[threadIdx.x - 32] = threadIdx.x;
        __syncwarp();
        if (!is_fixed || threadIdx.x == 32) arrive(&ready);
    } else {
        wait(&ready, 0); // FAULT: livelock
        out[threadIdx.x] = values[threadIdx.x];
    }
}

extern "C" __global__ void defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(unsigned* out) {
    run<true>(out);
}
