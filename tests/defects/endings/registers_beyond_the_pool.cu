// Both warpgroups take more registers than the block has, because the loader releases too few.
// launch: grid=1 block=384 specific
// arg: buf:u32[384]
// expect: 0[300] = 300
#include "hopper.cuh"

template <int count>
__device__ __forceinline__ void take() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count)); // FAULT: deadlock
}

template <int count>
__device__ __forceinline__ void release() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(count));
}

template <int left>
__device__ __forceinline__ void run(unsigned* out) {
    if (threadIdx.x < 128) {
        release<left>();
    } else {
        take<240>();
    }
    out[threadIdx.x] = threadIdx.x;
}

extern "C" __global__ void __launch_bounds__(384, 1) defect(unsigned* out) {
    run<40>(out);
}

extern "C" __global__ void __launch_bounds__(384, 1) fixed(unsigned* out) {
    run<24>(out);
}
