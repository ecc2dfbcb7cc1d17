// A reduction for a power of two reads beyond the shared array when the block has 96 threads.
// launch: grid=1 block=96
// arg: in:f32[96]=1
// arg: buf:f32[1]
// expect: 1[0] = 96
extern "C" __global__ void defect(const float *g_idata, float *g_odata) {
    __shared__ float sdata[96];
    unsigned int tid = threadIdx.x;
    sdata[tid] = g_idata[tid];
    __syncthreads();
    for (unsigned int s = 64; s > 0; s >>= 1) {
        if (tid < s) {
            sdata[tid] += sdata[tid + s]; // FAULT: out_of_bounds
        }
        __syncthreads();
    }
    if (tid == 0) g_odata[0] = sdata[0];
}

extern "C" __global__ void fixed(const float *g_idata, float *g_odata) {
    __shared__ float sdata[96];
    unsigned int tid = threadIdx.x;
    sdata[tid] = g_idata[tid];
    __syncthreads();
    for (unsigned int s = 64; s > 0; s >>= 1) {
        if (tid < s && tid + s < 96) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }
    if (tid == 0) g_odata[0] = sdata[0];
}
