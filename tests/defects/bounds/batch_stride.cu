// The offset of the batch is counted in bytes where elements are meant.
// launch: grid=1,4 block=32 also=80,100
// arg: in:f32[128]=iota
// arg: buf:f32[128]
// expect: 1[127] = 128
extern "C" __global__ void defect(const float* in, float* out) {
    size_t stride = 32 * sizeof(float);
    const float* src = in + blockIdx.y * stride;
    float* dst = out + blockIdx.y * stride;
    dst[threadIdx.x] = src[threadIdx.x] + 1.0f; // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const float* in, float* out) {
    size_t stride = 32;
    const float* src = in + blockIdx.y * stride;
    float* dst = out + blockIdx.y * stride;
    dst[threadIdx.x] = src[threadIdx.x] + 1.0f;
}
