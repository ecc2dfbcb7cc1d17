// A strided loop with a barrier runs once more for some threads than for others.
// launch: grid=1 block=64 also=80,100 strict
// arg: in:f32[100]=1
// arg: buf:f32[100]
// arg: i32:100
// expect: 1[99] = 2
extern "C" __global__ void defect(const float* in, float* out, int n) {
    __shared__ float stage[64];
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        stage[threadIdx.x] = in[i];
        __syncthreads(); // FAULT: barrier_divergence
        out[i] = stage[threadIdx.x] + stage[threadIdx.x & 31];
        __syncthreads(); // FAULT: barrier_divergence
    }
}

extern "C" __global__ void fixed(const float* in, float* out, int n) {
    __shared__ float stage[64];
    for (int base = 0; base < n; base += blockDim.x) {
        int i = base + threadIdx.x;
        if (i < n) stage[threadIdx.x] = in[i];
        __syncthreads();
        if (i < n) out[i] = stage[threadIdx.x] + stage[threadIdx.x & 31];
        __syncthreads();
    }
}
