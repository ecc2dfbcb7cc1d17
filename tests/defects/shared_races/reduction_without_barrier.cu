// A tree reduction has no barrier between its steps.
// launch: grid=1 block=256 also=80,100
// arg: in:f32[256]=1
// arg: buf:f32[1]
// expect: 1[0] = 256
extern "C" __global__ void defect(const float* in, float* out) {
    __shared__ float sdata[256];
    unsigned tid = threadIdx.x;
    sdata[tid] = in[tid];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s]; // FAULT: data_race
    }
    if (tid == 0) *out = sdata[0];
}

extern "C" __global__ void fixed(const float* in, float* out) {
    __shared__ float sdata[256];
    unsigned tid = threadIdx.x;
    sdata[tid] = in[tid];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) sdata[tid] += sdata[tid + s];
        __syncthreads();
    }
    if (tid == 0) *out = sdata[0];
}
