// The counters in shared memory are never set to zero.
// launch: grid=2 block=64 also=80,100
// arg: in:u8[128]=iota%16
// arg: buf:u32[16]=0
// expect: 1[3] = 8
extern "C" __global__ void defect(const unsigned char* data, unsigned* bins) {
    __shared__ unsigned local[16];
    atomicAdd(&local[data[blockIdx.x * blockDim.x + threadIdx.x]], 1u); // FAULT: uninitialized_read
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]); // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const unsigned char* data, unsigned* bins) {
    __shared__ unsigned local[16];
    if (threadIdx.x < 16) local[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&local[data[blockIdx.x * blockDim.x + threadIdx.x]], 1u);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}
