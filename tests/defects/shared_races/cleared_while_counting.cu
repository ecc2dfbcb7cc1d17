// The counters are cleared by some threads while others count already.
// launch: grid=1 block=64
// arg: in:u8[64]=iota%4
// arg: buf:u32[4]
// expect: 1[3] = 16
extern "C" __global__ void defect(const unsigned char* in, unsigned* out) {
    __shared__ unsigned bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0; // OTHER
    atomicAdd(&bins[in[threadIdx.x]], 1u); // FAULT: data_race
    __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}

extern "C" __global__ void fixed(const unsigned char* in, unsigned* out) {
    __shared__ unsigned bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[threadIdx.x]], 1u);
    __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}
