// The input is normalised in place where an output was meant.
// launch: grid=1 block=32 also=80,100
// arg: in:f32[32]=4
// arg: buf:f32[32]
// expect: 1[3] = 1
extern "C" __global__ void defect(float* x, float* y) {
    float scale = 0.25f;
    x[threadIdx.x] *= scale; // FAULT: read_only_write
    y[threadIdx.x] = x[threadIdx.x];
}

extern "C" __global__ void fixed(const float* x, float* y) {
    float scale = 0.25f;
    y[threadIdx.x] = x[threadIdx.x] * scale;
}
