// The mean is stored where only the first warp of each row stores it, and rows have two warps of slots.
// launch: grid=1 block=128 also=80,100
// arg: in:f32[128]=3
// arg: buf:f32[128]
// expect: 1[127] = 0
extern "C" __global__ void defect(const float* x, float* y) {
    __shared__ float mean[4];
    int t = threadIdx.x, w = t / 32;
    float v = x[t], sum = v;
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (t % 64 == 0) mean[w] = sum / 32;
    __syncthreads();
    y[t] = v - mean[w]; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const float* x, float* y) {
    __shared__ float mean[4];
    int t = threadIdx.x, w = t / 32;
    float v = x[t], sum = v;
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, d);
    if (t % 32 == 0) mean[w] = sum / 32;
    __syncthreads();
    y[t] = v - mean[w];
}
