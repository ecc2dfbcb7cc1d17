// An inclusive scan adds in place, and a barrier is missing between reading and writing.
// launch: grid=1 block=128 also=80,100
// arg: in:i32[128]=1
// arg: buf:i32[128]
// expect: 1[127] = 128
extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int a[128];
    int t = threadIdx.x;
    a[t] = in[t];
    for (int stride = 1; stride < 128; stride *= 2) {
        __syncthreads();
        if (t >= stride) a[t] += a[t - stride]; // FAULT: data_race
    }
    out[t] = a[t];
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int a[128];
    int t = threadIdx.x;
    a[t] = in[t];
    for (int stride = 1; stride < 128; stride *= 2) {
        __syncthreads();
        int v = t >= stride ? a[t - stride] : 0;
        __syncthreads();
        a[t] += v;
    }
    out[t] = a[t];
}
