// A later step reads the whole output, of which only every second element was stored.
// launch: grid=1 block=64
// arg: in:i32[64]=iota
// arg: buf:i32[64]
// arg: buf:i32[1]
// expect: 2[0] = 2016
extern "C" __global__ void defect(const int* x, int* y, int* sum) {
    int t = threadIdx.x;
    if (t % 2 == 0) y[t] = x[t];
    __syncthreads();
    if (t == 0) {
        int s = 0;
        for (int k = 0; k < 64; k++) s += y[k];
        *sum = s; // FAULT: uninitialized_read
    }
}

extern "C" __global__ void fixed(const int* x, int* y, int* sum) {
    int t = threadIdx.x;
    y[t] = x[t];
    __syncthreads();
    if (t == 0) {
        int s = 0;
        for (int k = 0; k < 64; k++) s += y[k];
        *sum = s;
    }
}
