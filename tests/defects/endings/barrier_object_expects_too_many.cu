// A barrier object expects the whole block, and one warp arrives.
// launch: grid=1 block=64 steps=300000
// arg: in:i32[32]=iota
// arg: buf:i32[32]
// expect: 1[0] = 31
#include <cuda/barrier>
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ void reverse(const int* x, int* y, int* s, block_barrier& ready) {
    s[threadIdx.x] = x[threadIdx.x];
    ready.arrive_and_wait(); // FAULT: livelock
    y[threadIdx.x] = s[31 - threadIdx.x];
}

extern "C" __global__ void defect(const int* x, int* y) {
    __shared__ int s[32];
    __shared__ block_barrier ready;
    if (threadIdx.x == 0) init(&ready, 64);
    __syncthreads();
    if (threadIdx.x < 32) reverse(x, y, s, ready);
}

extern "C" __global__ void fixed(const int* x, int* y) {
    __shared__ int s[32];
    __shared__ block_barrier ready;
    if (threadIdx.x == 0) init(&ready, 32);
    __syncthreads();
    if (threadIdx.x < 32) reverse(x, y, s, ready);
}
