// The row sum reuses the slots of the row maximum before all threads have read it.
// launch: grid=1 block=64 also=80,100
// arg: in:f32[64]=1
// arg: buf:f32[64]
// expect: 1[0] = 0.015625
__device__ float over_warps(float mine, float* slots, bool take_maximum) {
    for (int d = 16; d > 0; d >>= 1) {
        float other = __shfl_xor_sync(~0u, mine, d);
        mine = take_maximum ? fmaxf(mine, other) : mine + other;
    }
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = mine; // OTHER
    __syncthreads();
    float a = slots[0], b = slots[1]; // FAULT: data_race
    return take_maximum ? fmaxf(a, b) : a + b;
}

extern "C" __global__ void defect(const float* x, float* y) {
    __shared__ float slots[2];
    float v = x[threadIdx.x];
    float most = over_warps(v, slots, true);
    float e = expf(v - most);
    y[threadIdx.x] = e / over_warps(e, slots, false);
}

extern "C" __global__ void fixed(const float* x, float* y) {
    __shared__ float slots[2];
    float v = x[threadIdx.x];
    float most = over_warps(v, slots, true);
    float e = expf(v - most);
    __syncthreads();
    y[threadIdx.x] = e / over_warps(e, slots, false);
}
