// Several threads store different values in one shared variable without any order.
// launch: grid=1 block=64
// arg: in:i32[64]=iota
// arg: buf:i32[1]
// expect: 1[0] = 63
extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int found;
    if (threadIdx.x == 0) found = -1;
    __syncthreads();
    if (in[threadIdx.x] % 7 == 0) found = in[threadIdx.x]; // FAULT: data_race
    __syncthreads();
    if (threadIdx.x == 0) *out = found;
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int found;
    if (threadIdx.x == 0) found = -1;
    __syncthreads();
    if (in[threadIdx.x] % 7 == 0) atomicMax(&found, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = found;
}
