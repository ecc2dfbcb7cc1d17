// The last step of a block sum reads 32 partial sums, and only four warps wrote theirs.
// launch: grid=1 block=128 also=80,100
// arg: in:f32[128]=1
// arg: buf:f32[1]
// expect: 1[0] = 128
__inline__ __device__ float warpReduceSum(float val) {
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        val += __shfl_down_sync(0xffffffff, val, offset);
    return val;
}

extern "C" __global__ void defect(const float* in, float* out) {
    static __shared__ float shared[32];
    int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
    float val = warpReduceSum(in[threadIdx.x]);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = shared[lane];
    if (wid == 0) val = warpReduceSum(val);
    if (threadIdx.x == 0) out[0] = val; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const float* in, float* out) {
    static __shared__ float shared[32];
    int lane = threadIdx.x % warpSize, wid = threadIdx.x / warpSize;
    float val = warpReduceSum(in[threadIdx.x]);
    if (lane == 0) shared[wid] = val;
    __syncthreads();
    val = threadIdx.x < blockDim.x / warpSize ? shared[lane] : 0;
    if (wid == 0) val = warpReduceSum(val);
    if (threadIdx.x == 0) out[0] = val;
}
