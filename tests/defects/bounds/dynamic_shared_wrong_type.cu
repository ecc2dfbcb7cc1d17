// The launch sizes the dynamic shared array for floats, and the kernel keeps doubles in it.
// launch: grid=1 block=128 shared=512 also=80,100
// arg: in:f32[128]=1
// arg: buf:f32[1]
// expect: 1[0] = 128
extern "C" __global__ void defect(const float* in, float* out) {
    extern __shared__ double sums[];
    sums[threadIdx.x] = in[threadIdx.x]; // FAULT: out_of_bounds
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = sums[0];
}

extern "C" __global__ void fixed(const float* in, float* out) {
    extern __shared__ float partial[];
    partial[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) partial[threadIdx.x] += partial[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = partial[0];
}
