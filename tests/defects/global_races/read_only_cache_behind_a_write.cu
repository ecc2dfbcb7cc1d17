// What the block has written is read through the read-only cache, behind a barrier.
// launch: grid=1 block=32 also=80,100
// arg: buf:i32[32]=iota
// arg: buf:i32[32]
// expect: 0[3] = 6
// expect: 1[3] = 4
extern "C" __global__ void defect(int* x, int* out) {
    int i = threadIdx.x;
    x[i] = 2 * i; // OTHER
    __syncthreads();
    out[i] = __ldg(&x[i ^ 1]); // FAULT: data_race
}

extern "C" __global__ void fixed(int* x, int* out) {
    int i = threadIdx.x;
    // Its own later write is no defect.
    int v = __ldg(&x[i]);
    x[i] = 2 * v;
    __syncthreads();
    out[i] = x[i ^ 1];
}
