// The last stage of a pipeline still waits for all but one group, and reads that one.
// launch: grid=1 block=32 also=80,100
// arg: in:f32[128]=1
// arg: buf:f32[32]
// expect: 1[31] = 4
#include <cuda_pipeline.h>

extern "C" __global__ void defect(const float* in, float* out) {
    __shared__ float stage[2][32];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&stage[0][t], &in[t], 4); // OTHER
    __pipeline_commit();
    for (int k = 0; k < 4; k++) {
        if (k + 1 < 4) {
            __pipeline_memcpy_async(&stage[(k + 1) & 1][t], &in[(k + 1) * 32 + t], 4); // OTHER
            __pipeline_commit();
        }
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += stage[k & 1][31 - t]; // FAULT: missing_wait
        __syncthreads();
    }
    out[t] = sum;
}

extern "C" __global__ void fixed(const float* in, float* out) {
    __shared__ float stage[2][32];
    int t = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&stage[0][t], &in[t], 4);
    __pipeline_commit();
    for (int k = 0; k < 4; k++) {
        if (k + 1 < 4) {
            __pipeline_memcpy_async(&stage[(k + 1) & 1][t], &in[(k + 1) * 32 + t], 4);
            __pipeline_commit();
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        sum += stage[k & 1][31 - t];
        __syncthreads();
    }
    out[t] = sum;
}
