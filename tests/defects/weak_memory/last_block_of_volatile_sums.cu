// The last block adds volatile sums of the others, which no fence keeps before the counter.
// launch: grid=4 block=64 replayed also=80,100
// arg: buf:f32[4]
// arg: buf:u32[1]=0
// arg: buf:f32[1]
// expect: 2[0] = 10
__device__ float sum(volatile float* partial) {
    float all = 0;
    for (int b = 0; b < gridDim.x; b++)
        all += partial[b];
    return all;
}

extern "C" __global__ void defect(volatile float* partial, unsigned* count, float* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x + 1;
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 33)
        *out = sum(partial);
}

extern "C" __global__ void fixed(volatile float* partial, unsigned* count, float* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 33)
        *out = sum(partial);
}
