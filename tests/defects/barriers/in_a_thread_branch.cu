// Only the first sixteen threads reach the barrier.
// launch: grid=1 block=64 also=80,100 strict
// arg: in:i32[64]=iota
// arg: buf:i32[64]
// expect: 1[0] = 1
extern "C" __global__ void defect(const int* x, int* y) {
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 16) {
        __syncthreads(); // FAULT: barrier_divergence
        y[threadIdx.x] = s[threadIdx.x + 1];
    } else {
        y[threadIdx.x] = x[threadIdx.x];
    }
}

extern "C" __global__ void fixed(const int* x, int* y) {
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 16) {
        y[threadIdx.x] = s[threadIdx.x + 1];
    } else {
        y[threadIdx.x] = x[threadIdx.x];
    }
}
