// Blocks add their sums to one number with a plain addition.
// launch: grid=8 block=64 also=80,100
// arg: in:f32[512]=1
// arg: buf:f32[1]=0
// expect: 1[0] = 512
__device__ float block_sum(float v) {
    __shared__ float sums[2];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    return sums[0] + sums[1];
}

extern "C" __global__ void defect(const float* x, float* total) {
    float sum = block_sum(x[blockIdx.x * 64 + threadIdx.x]);
    if (threadIdx.x == 0) *total += sum; // FAULT: data_race
}

extern "C" __global__ void fixed(const float* x, float* total) {
    float sum = block_sum(x[blockIdx.x * 64 + threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(total, sum);
}
