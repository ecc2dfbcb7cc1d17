// Half of a warp waits for the whole warp inside a branch.
// launch: grid=1 block=32 also=80,100 strict
// arg: in:i32[32]=iota
// arg: buf:i32[32]
// expect: 1[2] = 13
extern "C" __global__ void defect(const int* x, int* y) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = 0;
    if (t < 16) {
        s[t] = x[t];
        __syncwarp(); // FAULT: warp_sync
        y[t] = s[15 - t];
    }
    if (t >= 16) y[t] = x[t];
}

extern "C" __global__ void fixed(const int* x, int* y) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = 0;
    if (t < 16) {
        s[t] = x[t];
        __syncwarp(0x0000ffff);
        y[t] = s[15 - t];
    }
    if (t >= 16) y[t] = x[t];
}
