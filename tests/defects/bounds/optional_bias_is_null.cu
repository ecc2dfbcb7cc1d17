// The bias is optional, and a null pointer is read.
// launch: grid=1 block=32
// arg: in:f32[32]=iota
// arg: u64:0
// arg: buf:f32[32]
// expect: 2[31] = 31
extern "C" __global__ void defect(const float* x, const float* bias, float* y) {
    int i = threadIdx.x;
    y[i] = x[i] + bias[i]; // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const float* x, const float* bias, float* y) {
    int i = threadIdx.x;
    y[i] = x[i] + (bias ? bias[i] : 0.0f);
}
