// A thread reads the bytes that it copies itself before it waits.
// launch: grid=1 block=32 also=80,100
// arg: in:f32[32]=4
// arg: buf:f32[32]
// expect: 1[0] = 16
#include <cuda_pipeline.h>

extern "C" __global__ void defect(const float* in, float* out) {
    __shared__ float s[32];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4); // OTHER
    __pipeline_commit();
    float v = s[threadIdx.x]; // FAULT: missing_wait
    __pipeline_wait_prior(0);
    out[threadIdx.x] = v * s[threadIdx.x];
}

extern "C" __global__ void fixed(const float* in, float* out) {
    __shared__ float s[32];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    float v = s[threadIdx.x];
    out[threadIdx.x] = v * s[threadIdx.x];
}
