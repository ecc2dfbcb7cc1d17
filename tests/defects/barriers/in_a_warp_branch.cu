// The first warp waits for the block at a barrier that the other warps skip.
// launch: grid=1 block=128 strict
// arg: in:f32[128]=1
// arg: buf:f32[1]=0
// arg: buf:f32[128]
// expect: 1[0] = 128
extern "C" __global__ void defect(const float* x, float* sum, float* copy) {
    __shared__ float s[128];
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x / 32 == 0) {
        __syncthreads(); // FAULT: barrier_divergence
        float v = s[threadIdx.x] + s[threadIdx.x + 32] + s[threadIdx.x + 64] + s[threadIdx.x + 96];
        atomicAdd(sum, v);
    }
    copy[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void fixed(const float* x, float* sum, float* copy) {
    __shared__ float s[128];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x / 32 == 0) {
        float v = s[threadIdx.x] + s[threadIdx.x + 32] + s[threadIdx.x + 64] + s[threadIdx.x + 96];
        atomicAdd(sum, v);
    }
    copy[threadIdx.x] = s[threadIdx.x];
}
