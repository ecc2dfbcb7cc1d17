// The shared maximum of a row is overwritten while others still use that of the row before.
// launch: grid=1 block=64 also=80,100
// arg: in:f32[256]=1
// arg: buf:f32[256]
// arg: i32:4
// expect: 1[255] = 1
extern "C" __global__ void defect(const float* in, float* out, int rows) {
    __shared__ float pivot;
    for (int r = 0; r < rows; r++) {
        if (threadIdx.x == 0) pivot = in[r * 64]; // OTHER
        __syncthreads();
        out[r * 64 + threadIdx.x] = in[r * 64 + threadIdx.x] / pivot; // FAULT: data_race
    }
}

extern "C" __global__ void fixed(const float* in, float* out, int rows) {
    __shared__ float pivot;
    for (int r = 0; r < rows; r++) {
        if (threadIdx.x == 0) pivot = in[r * 64];
        __syncthreads();
        out[r * 64 + threadIdx.x] = in[r * 64 + threadIdx.x] / pivot;
        __syncthreads();
    }
}
