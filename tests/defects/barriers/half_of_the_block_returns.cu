// The upper half of the block has nothing to do and leaves before the barrier.
// launch: grid=1 block=64 strict
// arg: in:i32[64]=iota
// arg: buf:i32[32]
// expect: 1[3] = 3
extern "C" __global__ void defect(const int* x, int* y) {
    __shared__ int s[32];
    if (threadIdx.x >= blockDim.x / 2) return;
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads(); // FAULT: barrier_divergence
    y[threadIdx.x] = s[31 - threadIdx.x];
}

extern "C" __global__ void fixed(const int* x, int* y) {
    __shared__ int s[32];
    if (threadIdx.x < blockDim.x / 2) s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x >= blockDim.x / 2) return;
    y[threadIdx.x] = s[31 - threadIdx.x] + 2 * (int)threadIdx.x - 31;
}
