// Threads behind the end return before the barrier that the others wait at.
// launch: grid=2 block=64 also=80,100 strict
// arg: in:f32[100]=1
// arg: buf:f32[2]
// arg: i32:100
// expect: 1[1] = 36
extern "C" __global__ void defect(const float* x, float* sums, int n) {
    __shared__ float s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = 0;
    if (i >= n) return;
    s[threadIdx.x] = x[i];
    __syncthreads(); // FAULT: barrier_divergence
    for (int d = 32; d > 0; d >>= 1) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads(); // FAULT: barrier_divergence
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = s[0];
}

extern "C" __global__ void fixed(const float* x, float* sums, int n) {
    __shared__ float s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x * blockDim.x >= n) return;
    s[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 32; d > 0; d >>= 1) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = s[0];
}
