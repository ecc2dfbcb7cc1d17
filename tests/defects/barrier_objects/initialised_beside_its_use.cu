// Other warps use a barrier object without a barrier behind its initialisation.
// launch: grid=1 block=64
// arg: buf:u32[32]
// expect: 0[3] = 35
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ unsigned values[32];
    __shared__ Barrier ready;
    if (threadIdx.x == 0) init(&ready, 32); // OTHER
    if (is_fixed) __syncthreads();
    if (threadIdx.x >= 32) {
        values[threadIdx.x - 32] = threadIdx.x;
        arrive(&ready); // FAULT: data_race
    } else {
        wait(&ready, 0);
        out[threadIdx.x] = values[threadIdx.x];
    }
}

extern "C" __global__ void defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(unsigned* out) {
    run<true>(out);
}
