// The guard says `<= n`, so one thread reads and writes the element behind the end.
// launch: grid=5 block=64 also=80,100
// arg: in:f32[300]=iota
// arg: buf:f32[300]
// arg: u32:300
// expect: 1[299] = 598
extern "C" __global__ void defect(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) {
        out[i] = in[i] * 2.0f; // FAULT: out_of_bounds
    }
}

extern "C" __global__ void fixed(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = in[i] * 2.0f;
    }
}
