// The number of neighbours is read from a slot that only odd threads filled.
// launch: grid=1 block=8 also=80,100
// arg: in:i32[8]=1,2,3,4,5,6,7,8
// arg: buf:i32[8]
// expect: 1[2] = 0
extern "C" __global__ void defect(const int* degree, int* out) {
    __shared__ int count[8];
    if (threadIdx.x & 1) count[threadIdx.x] = degree[threadIdx.x];
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < count[threadIdx.x]; k++) // FAULT: uninitialized_read
        sum += degree[k];
    out[threadIdx.x] = sum; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const int* degree, int* out) {
    __shared__ int count[8];
    count[threadIdx.x] = threadIdx.x & 1 ? degree[threadIdx.x] : 0;
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < count[threadIdx.x]; k++)
        sum += degree[k];
    out[threadIdx.x] = sum;
}
