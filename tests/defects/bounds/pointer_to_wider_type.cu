// The buffer holds floats, and the kernel was written for doubles.
// launch: grid=2 block=32
// arg: in:u8[256]=0
// arg: buf:f32[64]
// expect: 1[63] = 0
extern "C" __global__ void defect(const void* data, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const double* values = static_cast<const double*>(data);
    out[i] = static_cast<float>(values[i]); // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const void* data, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float* values = static_cast<const float*>(data);
    out[i] = values[i];
}
