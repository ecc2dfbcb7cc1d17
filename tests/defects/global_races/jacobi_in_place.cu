// A relaxation reads neighbours from the array that it writes.
// launch: grid=2 block=64 also=80,100
// arg: buf:f32[130]=1
// arg: buf:f32[130]=0
// expect: 1[7] = 1
extern "C" __global__ void defect(float* u, float* v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    u[i] = 0.5f * (u[i - 1] + u[i + 1]); // FAULT: data_race
}

extern "C" __global__ void fixed(float* u, float* v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    v[i] = 0.5f * (u[i - 1] + u[i + 1]);
}
