// A loop over float4 rounds the number of vectors up, so the last vector hangs over the end.
// launch: grid=1 block=32 also=80,100
// arg: in:f32[102]=iota
// arg: buf:f32[102]
// arg: i32:102
// expect: 1[101] = 102
extern "C" __global__ void defect(const float* x, float* y, int n) {
    int vectors = (n + 3) / 4;
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        float4 v = reinterpret_cast<const float4*>(x)[i]; // FAULT: out_of_bounds
        v.x += 1; v.y += 1; v.z += 1; v.w += 1;
        reinterpret_cast<float4*>(y)[i] = v; // FAULT: out_of_bounds
    }
}

extern "C" __global__ void fixed(const float* x, float* y, int n) {
    int vectors = n / 4;
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        float4 v = reinterpret_cast<const float4*>(x)[i];
        v.x += 1; v.y += 1; v.z += 1; v.w += 1;
        reinterpret_cast<float4*>(y)[i] = v;
    }
    for (int i = vectors * 4 + threadIdx.x; i < n; i += blockDim.x) {
        y[i] = x[i] + 1;
    }
}
