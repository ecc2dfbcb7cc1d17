// A counting barrier stands behind a condition of the thread.
// launch: grid=1 block=64 also=80,100 strict
// arg: in:i32[64]=iota%3
// arg: buf:i32[1]=0
// expect: 1[0] = 22
extern "C" __global__ void defect(const int* x, int* zeros) {
    int v = x[threadIdx.x];
    int count = 0;
    if (v < 2) {
        count = __syncthreads_count(v == 0); // FAULT: barrier_divergence
        if (threadIdx.x == 0) *zeros = count;
    } else {
        atomicMax(zeros, count);
    }
}

extern "C" __global__ void fixed(const int* x, int* zeros) {
    int v = x[threadIdx.x];
    int count = __syncthreads_count(v == 0);
    if (threadIdx.x == 0) *zeros = count;
}
