// The accumulator of a dot product is declared and never set to zero.
// launch: grid=1 block=32 as-written also=80,100
// arg: in:f32[64]=1
// arg: in:f32[64]=2
// arg: buf:f32[32]
// expect: 2[31] = 4
extern "C" __global__ void defect(const float* a, const float* b, float* out) {
    float sum;
    for (int k = threadIdx.x; k < 64; k += 32)
        sum += a[k] * b[k];
    out[threadIdx.x] = sum; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const float* a, const float* b, float* out) {
    float sum = 0.0f;
    for (int k = threadIdx.x; k < 64; k += 32)
        sum += a[k] * b[k];
    out[threadIdx.x] = sum;
}
