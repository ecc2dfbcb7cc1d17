// A lookup table in global memory is indexed by a byte of which only seven bits count.
// launch: grid=1 block=32
// arg: in:u8[32]=5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,5,200,5
// arg: buf:u8[32]
// expect: 1[30] = 72
__device__ unsigned char table[128];

__device__ void fill() {
    for (int i = threadIdx.x; i < 128; i += blockDim.x) table[i] = i;
    __syncthreads();
}

extern "C" __global__ void defect(const unsigned char* in, unsigned char* out) {
    fill();
    out[threadIdx.x] = table[in[threadIdx.x]]; // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const unsigned char* in, unsigned char* out) {
    fill();
    out[threadIdx.x] = table[in[threadIdx.x] & 127];
}
