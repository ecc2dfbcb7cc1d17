// Blocks wait for each other at a counter, and no fence keeps their volatile results before it.
// launch: grid=4 block=32 replayed also=80,100
// arg: buf:i32[4]=0
// arg: buf:u32[1]=0
// arg: buf:i32[4]
// expect: 2[0] = 20
// expect: 2[3] = 10
extern "C" __global__ void defect(volatile int* result, unsigned* count, int* out) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        result[b] = 10 * (b + 1);
        atomicAdd(count, 1);
        while (*(volatile unsigned*)count < gridDim.x) { }
    }
    __syncthreads();
    if (threadIdx.x == 1)
        out[b] = result[(b + 1) % gridDim.x];
}

extern "C" __global__ void fixed(volatile int* result, unsigned* count, int* out) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        result[b] = 10 * (b + 1);
        __threadfence();
        atomicAdd(count, 1);
        while (*(volatile unsigned*)count < gridDim.x) { }
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 1)
        out[b] = result[(b + 1) % gridDim.x];
}
