// Each thread waits for its own copies and then reads those of others without a barrier.
// launch: grid=1 block=64 also=80,100
// arg: in:i32[64]=iota
// arg: buf:i32[64]
// expect: 1[1] = 62
#include <cuda_pipeline.h>

extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int)); // OTHER
    __pipeline_commit();
    __pipeline_wait_prior(0); // OTHER
    out[threadIdx.x] = s[63 - threadIdx.x]; // FAULT: data_race
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int s[64];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
