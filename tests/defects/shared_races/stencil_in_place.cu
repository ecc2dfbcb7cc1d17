// A smoothing step overwrites the cells that its neighbours still have to read.
// launch: grid=1 block=64
// arg: in:f32[66]=1
// arg: buf:f32[66]=0
// expect: 1[5] = 1
extern "C" __global__ void defect(const float* in, float* out) {
    __shared__ float u[66];
    int i = threadIdx.x + 1;
    u[i] = in[i];
    if (threadIdx.x == 0) { u[0] = in[0]; u[65] = in[65]; }
    __syncthreads();
    u[i] = 0.25f * u[i - 1] + 0.5f * u[i] + 0.25f * u[i + 1]; // FAULT: data_race
    __syncthreads();
    out[i] = u[i];
}

extern "C" __global__ void fixed(const float* in, float* out) {
    __shared__ float u[66];
    int i = threadIdx.x + 1;
    u[i] = in[i];
    if (threadIdx.x == 0) { u[0] = in[0]; u[65] = in[65]; }
    __syncthreads();
    float v = 0.25f * u[i - 1] + 0.5f * u[i] + 0.25f * u[i + 1];
    __syncthreads();
    u[i] = v;
    __syncthreads();
    out[i] = u[i];
}
