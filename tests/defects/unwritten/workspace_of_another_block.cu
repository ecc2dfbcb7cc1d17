// Each block reads the workspace of its right neighbour, and the last one has none that anybody wrote.
// launch: grid=4 block=32
// arg: in:f32[128]=1
// arg: buf:f32[160]
// arg: buf:f32[128]
// expect: 2[127] = 1
extern "C" __global__ void defect(const float* x, float* work, float* out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    work[i] = x[i];
    __syncthreads();
    if (blockIdx.x == 3) out[i] = work[i + 32]; // FAULT: uninitialized_read
    else out[i] = x[i];
}

extern "C" __global__ void fixed(const float* x, float* work, float* out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    work[i] = x[i];
    __syncthreads();
    if (blockIdx.x == 3) out[i] = work[i];
    else out[i] = x[i];
}
