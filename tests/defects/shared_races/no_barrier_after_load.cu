// Each thread reads what its neighbour loads into shared memory, without a barrier between.
// launch: grid=1 block=128 also=80,100
// arg: in:i32[128]=iota
// arg: buf:i32[128]
// expect: 1[0] = 127
extern "C" __global__ void defect(const int* d, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = d[t]; // OTHER
    out[t] = s[127 - t]; // FAULT: data_race
}

extern "C" __global__ void fixed(const int* d, int* out) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = d[t];
    __syncthreads();
    out[t] = s[127 - t];
}
