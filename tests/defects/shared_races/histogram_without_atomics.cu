// Threads count in shared memory with a plain increment.
// launch: grid=1 block=128 also=80,100
// arg: in:u8[128]=iota%10
// arg: buf:u32[10]
// expect: 1[0] = 13
extern "C" __global__ void defect(const unsigned char* in, unsigned* out) {
    __shared__ unsigned bins[10];
    if (threadIdx.x < 10) bins[threadIdx.x] = 0;
    __syncthreads();
    bins[in[threadIdx.x]]++; // FAULT: data_race
    __syncthreads();
    if (threadIdx.x < 10) out[threadIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void fixed(const unsigned char* in, unsigned* out) {
    __shared__ unsigned bins[10];
    if (threadIdx.x < 10) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[threadIdx.x]], 1u);
    __syncthreads();
    if (threadIdx.x < 10) out[threadIdx.x] = bins[threadIdx.x];
}
