// A device function that contains a barrier is called by the threads below a limit only.
// launch: grid=1 block=64 also=80,100 strict
// arg: in:f32[64]=1
// arg: buf:f32[2]=0
// arg: i32:40
// expect: 1[0] = 40
__device__ __noinline__ float sum_of_block(float v, float* scratch) {
    scratch[threadIdx.x] = v;
    __syncthreads(); // FAULT: barrier_divergence
    float sum = 0;
    for (int k = 0; k < blockDim.x; k++) sum += scratch[k];
    return sum;
}

extern "C" __global__ void defect(const float* x, float* out, int n) {
    __shared__ float scratch[64];
    scratch[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < n) {
        float sum = sum_of_block(x[threadIdx.x], scratch);
        if (threadIdx.x == 0) out[0] = sum;
    } else {
        atomicAdd(&out[1], 1.0f);
    }
}

extern "C" __global__ void fixed(const float* x, float* out, int n) {
    __shared__ float scratch[64];
    float sum = sum_of_block(threadIdx.x < n ? x[threadIdx.x] : 0.0f, scratch);
    if (threadIdx.x == 0) out[0] = sum;
}
