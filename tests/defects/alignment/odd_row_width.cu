// Rows of 30 floats are copied as float2 pairs of pairs, and every other row starts in the middle of a float4.
// launch: grid=4 block=7 also=80,100
// arg: in:f32[120]=iota
// arg: buf:f32[120]=0
// arg: i32:30
// expect: 1[91] = 91
template <typename Vector>
__device__ void copy_row(const float* src, float* dst, int width) {
    constexpr int lanes = sizeof(Vector) / sizeof(float);
    for (int i = threadIdx.x; i < width / lanes; i += blockDim.x)
        reinterpret_cast<Vector*>(dst)[i] = reinterpret_cast<const Vector*>(src)[i]; // FAULT: misaligned
}

extern "C" __global__ void defect(const float* in, float* out, int width) {
    copy_row<float4>(in + blockIdx.x * width, out + blockIdx.x * width, width);
}

extern "C" __global__ void fixed(const float* in, float* out, int width) {
    copy_row<float2>(in + blockIdx.x * width, out + blockIdx.x * width, width);
}
