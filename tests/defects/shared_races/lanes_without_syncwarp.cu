// Lanes of one warp exchange through shared memory without `__syncwarp`.
// launch: grid=1 block=32 also=80,100
// arg: in:i32[32]=iota
// arg: buf:i32[32]
// expect: 1[0] = 1
extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = in[threadIdx.x]; // OTHER
    out[threadIdx.x] = s[threadIdx.x ^ 1]; // FAULT: data_race
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int s[32];
    s[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x ^ 1];
}
