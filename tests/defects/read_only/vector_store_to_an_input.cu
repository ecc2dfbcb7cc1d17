// The residual is added into the activations that others still need.
// launch: grid=1 block=8 also=80,100
// arg: in:f32[32]=1
// arg: in:f32[32]=2
// arg: buf:f32[32]
// expect: 2[30] = 3
struct Tensors { float4* x; const float4* residual; float4* y; };

__device__ float4 add(float4 a, float4 b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }

extern "C" __global__ void defect(float4* x, const float4* residual, float4* y) {
    Tensors t{x, residual, y};
    t.x[threadIdx.x] = add(t.x[threadIdx.x], t.residual[threadIdx.x]); // FAULT: read_only_write
    t.y[threadIdx.x] = t.x[threadIdx.x];
}

extern "C" __global__ void fixed(float4* x, const float4* residual, float4* y) {
    Tensors t{x, residual, y};
    t.y[threadIdx.x] = add(t.x[threadIdx.x], t.residual[threadIdx.x]);
}
