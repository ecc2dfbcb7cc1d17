// A volatile array in shared memory is read across warps without a barrier.
// launch: grid=1 block=64 also=80,100
// arg: in:i32[64]=iota
// arg: buf:i32[64]
// expect: 1[0] = 63
extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x]; // OTHER
    volatile int* v = s;
    out[threadIdx.x] = v[63 - threadIdx.x]; // FAULT: data_race
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    volatile int* v = s;
    out[threadIdx.x] = v[63 - threadIdx.x];
}
