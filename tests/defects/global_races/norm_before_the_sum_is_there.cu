// All threads divide by a sum that atomics of other blocks still add to.
// launch: grid=4 block=32 also=80,100
// arg: in:f32[128]=1
// arg: buf:f32[1]=0
// arg: buf:f32[128]
// expect: 1[0] = 128
extern "C" __global__ void defect(const float* x, float* sum, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, x[i]); // OTHER
    __syncthreads();
    y[i] = x[i] / *sum; // FAULT: data_race
}

extern "C" __global__ void fixed(const float* x, float* sum, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, x[i]);
    y[i] = x[i];
}
