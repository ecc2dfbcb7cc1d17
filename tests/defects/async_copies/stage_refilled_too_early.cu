// The stage that others still read is filled again by the next copy.
// launch: grid=1 block=64
// arg: in:i32[256]=1
// arg: buf:i32[64]
// expect: 1[9] = 4
#include <cuda_pipeline.h>

extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        __pipeline_memcpy_async(&s[t], &in[k * 64 + t], sizeof(int)); // FAULT: data_race
        __pipeline_commit();
        __pipeline_wait_prior(0); // OTHER
        __syncthreads();
        sum += s[63 - t]; // FAULT: data_race
    }
    out[t] = sum;
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        __pipeline_memcpy_async(&s[t], &in[k * 64 + t], sizeof(int));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += s[63 - t];
        __syncthreads();
    }
    out[t] = sum;
}
