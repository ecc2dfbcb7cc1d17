// The last block to arrive adds up the partial sums, and no fence stands between a sum and its arrival.
// launch: grid=4 block=32 also=80,100
// arg: in:f32[128]=1
// arg: buf:f32[4]
// arg: buf:u32[1]=0
// arg: buf:f32[1]
// expect: 3[0] = 128
__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
    return v;
}

extern "C" __global__ void defect(const float* x, float* partial, unsigned* count, float* out) {
    __shared__ bool is_last;
    float sum = warp_sum(x[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum; // OTHER
        is_last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float total = 0;
        for (int b = 0; b < gridDim.x; b++) total += partial[b]; // FAULT: data_race
        *out = total;
    }
}

extern "C" __global__ void fixed(const float* x, float* partial, unsigned* count, float* out) {
    __shared__ bool is_last;
    float sum = warp_sum(x[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        is_last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        __threadfence();
        float total = 0;
        for (int b = 0; b < gridDim.x; b++) total += partial[b];
        *out = total;
    }
}
