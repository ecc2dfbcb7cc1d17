// Two warps arrive once a round; one of them does not wait between the rounds and can arrive twice in the first.
// launch: grid=1 block=64
// arg: buf:u32[2]
// expect: 0[1] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(unsigned* out) {
    __shared__ Barrier done;
    begin(&done, 2);
    unsigned rounds = 0;
    for (unsigned round = 0; round < 3; ++round) {
        if (threadIdx.x % 32 == 0) arrive(&done); // FAULT: barrier_phase
        __syncwarp();
        if (is_fixed || threadIdx.x < 32) wait(&done, round & 1); // FAULT: barrier_phase
        ++rounds;
    }
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = rounds;
}

extern "C" __global__ void defect(unsigned* out) {
    run<false>(out);
}

extern "C" __global__ void fixed(unsigned* out) {
    run<true>(out);
}
