// A byte array in shared memory is read as words at any byte.
// launch: grid=1 block=32
// arg: in:u8[64]=1
// arg: buf:u32[32]
// expect: 1[9] = 16843009
extern "C" __global__ void defect(const unsigned char* in, unsigned* out) {
    __shared__ alignas(4) unsigned char window[64];
    window[threadIdx.x] = in[threadIdx.x];
    window[threadIdx.x + 32] = in[threadIdx.x + 32];
    __syncthreads();
    out[threadIdx.x] = *(const unsigned*)&window[threadIdx.x]; // FAULT: misaligned
}

extern "C" __global__ void fixed(const unsigned char* in, unsigned* out) {
    __shared__ alignas(4) unsigned char window[64];
    window[threadIdx.x] = in[threadIdx.x];
    window[threadIdx.x + 32] = in[threadIdx.x + 32];
    __syncthreads();
    unsigned value = 0;
    for (int k = 3; k >= 0; k--) value = value << 8 | window[threadIdx.x + k];
    out[threadIdx.x] = value;
}
