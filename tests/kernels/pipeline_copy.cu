// arch: 80
// The pipeline primitives over cp.async: 4, 8 and 16 bytes, with zero fill.
#include <cuda_pipeline.h>
extern "C" __global__ void pipeline_copy(const float* x, float* y, int n) {
    __shared__ __align__(16) float s[2][128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[0][t * 4], &x[t * 4], 16);
    __pipeline_commit();
    __pipeline_memcpy_async(&s[1][t * 2], &x[128 + t * 2], 8);
    __pipeline_memcpy_async(&s[1][64 + t], &x[192 + t], 4, t & 1 ? 4 : 0);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    y[t] = s[0][127 - t * 4];
    __pipeline_wait_prior(0);
    __syncthreads();
    y[32 + t] = s[1][63 - t * 2] + s[1][64 + t];
}
