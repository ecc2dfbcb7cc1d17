// Float atomics of all widths; every addend is a small whole number, so sums are exact.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void atomics_float(float* f, double* d, __half* h, __half2* h2, __nv_bfloat162* b2) {
    __shared__ float sf;
    __shared__ double sd;
    if (threadIdx.x == 0) { sf = 0; sd = 0; }
    __syncthreads();
    atomicAdd(&f[0], 1.0f); atomicAdd(&d[0], 2.0); atomicAdd(h, __float2half(1.0f));
    atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f)); atomicAdd(b2, __floats2bfloat162_rn(1.0f, 0.0f));
    atomicAdd(&sf, 1.0f); atomicAdd(&sd, 1.0);
    atomicAdd_system(&d[1], 1.0);
    float old = atomicExch(&f[1], 3.0f);
    if (old < 0) f[2] = old;
    __syncthreads();
    if (threadIdx.x == 0) { atomicAdd(&f[3], sf); atomicAdd(&d[2], sd); }
}
