// The two sides of a branch wait at barriers of their own, with different work around them.
// launch: grid=1 block=32 also=80,100
// arg: in:i32[32]=iota
// arg: buf:i32[32]
// expect: 1[1] = 0
extern "C" __global__ void defect(const int* x, int* y) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t % 2 == 0) {
        s[t] = x[t];
        __syncthreads(); // FAULT: barrier_divergence
        y[t] = s[t + 1] * 3;
    } else {
        s[t] = -x[t];
        __syncthreads(); // FAULT: barrier_divergence
        y[t] = s[t - 1];
    }
}

extern "C" __global__ void fixed(const int* x, int* y) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t % 2 == 0 ? x[t] : -x[t];
    __syncthreads();
    if (t % 2 == 0) y[t] = s[t + 1] * 3;
    else y[t] = s[t - 1];
}
