// Histogram of bytes: a private one in shared memory for each block, then global atomics.
extern "C" __global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
    __shared__ unsigned s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = 0;
    __syncthreads();
    const uchar4* x4 = (const uchar4*)x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
        uchar4 v = x4[i];
        atomicAdd(&s[v.x], 1u); atomicAdd(&s[v.y], 1u); atomicAdd(&s[v.z], 1u); atomicAdd(&s[v.w], 1u);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4) atomicAdd(&s[x[n / 4 * 4 + threadIdx.x]], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) if (s[i]) atomicAdd(&bins[i], s[i]);
}
