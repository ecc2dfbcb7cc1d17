// Whether something was found is a shared flag that is set but never cleared.
// launch: grid=1 block=64 also=80
// arg: in:i32[64]=iota
// arg: buf:i32[1]=0
// arg: i32:99
// expect: 1[0] = 0
extern "C" __global__ void defect(const int* x, int* out, int wanted) {
    __shared__ int found;
    if (x[threadIdx.x] == wanted) found = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0 && found) // FAULT: uninitialized_read
        *out = found;
}

extern "C" __global__ void fixed(const int* x, int* out, int wanted) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (x[threadIdx.x] == wanted) found = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0 && found)
        *out = found;
}
