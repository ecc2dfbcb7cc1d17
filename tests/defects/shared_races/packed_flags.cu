// Threads set bits of shared bytes, and eight of them share one byte.
// launch: grid=1 block=64 also=80,100
// arg: in:i32[64]=iota%2
// arg: buf:u8[64]
// expect: 1[1] = 1
extern "C" __global__ void defect(const int* in, unsigned char* out) {
    __shared__ unsigned char flags[8];
    if (threadIdx.x < 8) flags[threadIdx.x] = 0;
    __syncthreads();
    if (in[threadIdx.x]) flags[threadIdx.x / 8] |= 1 << threadIdx.x % 8; // FAULT: data_race
    __syncthreads();
    out[threadIdx.x] = flags[threadIdx.x / 8] >> threadIdx.x % 8 & 1;
}

// Neighbours write bytes of one word, which is no race.
extern "C" __global__ void fixed(const int* in, unsigned char* out) {
    __shared__ unsigned char flags[64];
    flags[threadIdx.x] = in[threadIdx.x] != 0;
    __syncthreads();
    out[threadIdx.x] = flags[threadIdx.x ^ 2];
}
