// The first thread leaves a value for the block, and the block does not wait for it.
// launch: grid=2 block=64 also=80,100
// arg: in:f32[2]=2,4
// arg: buf:f32[128]
// expect: 1[127] = 252
extern "C" __global__ void defect(const float* scale, float* out) {
    __shared__ float factor;
    if (threadIdx.x == 0) factor = scale[blockIdx.x]; // OTHER
    out[blockIdx.x * 64 + threadIdx.x] = factor * threadIdx.x; // FAULT: data_race
}

extern "C" __global__ void fixed(const float* scale, float* out) {
    __shared__ float factor;
    if (threadIdx.x == 0) factor = scale[blockIdx.x];
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = factor * threadIdx.x;
}
