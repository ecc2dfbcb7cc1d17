// The list of active cells is shorter than the loop over it, and an index comes from behind its end.
// launch: grid=1 block=32
// arg: in:f32[32]=1
// arg: buf:i32[32]
// arg: buf:f32[32]=0
// expect: 2[30] = 1
extern "C" __global__ void defect(const float* x, int* active, float* out) {
    int t = threadIdx.x;
    if (t < 16) active[t] = 2 * t;
    __syncthreads();
    out[t] = x[active[t]]; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const float* x, int* active, float* out) {
    int t = threadIdx.x;
    if (t < 16) active[t] = 2 * t;
    __syncthreads();
    if (t < 16) out[active[t]] = x[active[t]];
}
