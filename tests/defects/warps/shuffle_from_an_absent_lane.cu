// The lower half reads from lane 16, which is in no mask and not there.
// launch: grid=1 block=32 also=80,100
// arg: in:i32[32]=iota
// arg: buf:i32[32]
// expect: 1[3] = 0
extern "C" __global__ void defect(const int* x, int* y) {
    int v = x[threadIdx.x];
    if (threadIdx.x < 16) {
        y[threadIdx.x] = __shfl_sync(0x0000ffff, v, 16); // FAULT: warp_sync
    } else {
        y[threadIdx.x] = v;
    }
}

extern "C" __global__ void fixed(const int* x, int* y) {
    int v = x[threadIdx.x];
    if (threadIdx.x < 16) {
        y[threadIdx.x] = __shfl_sync(0x0000ffff, v, 0);
    } else {
        y[threadIdx.x] = v;
    }
}
