// Threads beyond the end load nothing, and the reduction adds their shared elements too.
// launch: grid=1 block=128 also=80,100
// arg: in:f32[100]=1
// arg: buf:f32[1]
// arg: i32:100
// expect: 1[0] = 100
extern "C" __global__ void defect(const float* x, float* sum, int n) {
    __shared__ float cache[128];
    int t = threadIdx.x;
    if (t < n) cache[t] = x[t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) cache[t] += cache[t + half];
        __syncthreads();
    }
    if (t == 0) *sum = cache[0]; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const float* x, float* sum, int n) {
    __shared__ float cache[128];
    int t = threadIdx.x;
    cache[t] = t < n ? x[t] : 0.0f;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) cache[t] += cache[t + half];
        __syncthreads();
    }
    if (t == 0) *sum = cache[0];
}
