// There is a slot for each of eight warps, and the block has sixteen.
// launch: grid=1 block=512 also=80,100
// arg: in:f32[512]=1
// arg: buf:f32[1]
// expect: 1[0] = 512
template <int SLOTS>
__device__ float block_sum(float v, float* partial) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) partial[warp] = v; // FAULT: out_of_bounds
    __syncthreads();
    v = threadIdx.x < SLOTS ? partial[threadIdx.x] : 0.0f;
    if (warp == 0)
        for (int offset = SLOTS / 2; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
    return v;
}

extern "C" __global__ void defect(const float* in, float* out) {
    __shared__ float partial[8];
    float sum = block_sum<8>(in[threadIdx.x], partial);
    if (threadIdx.x == 0) *out = sum;
}

extern "C" __global__ void fixed(const float* in, float* out) {
    __shared__ float partial[16];
    float sum = block_sum<16>(in[threadIdx.x], partial);
    if (threadIdx.x == 0) *out = sum;
}
