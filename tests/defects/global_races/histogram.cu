// A histogram in global memory is counted with a plain increment.
// launch: grid=2 block=64 also=80,100
// arg: in:u8[128]=iota%16
// arg: buf:i32[16]=0
// expect: 1[15] = 8
extern "C" __global__ void defect(const unsigned char* data, int* bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bins[data[i]] += 1; // FAULT: data_race
}

extern "C" __global__ void fixed(const unsigned char* data, int* bins) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[data[i]], 1);
}
