// The sums of the warps are read before all warps have stored theirs.
// launch: grid=1 block=128 also=80,100
// arg: in:i32[128]=1
// arg: buf:i32[128]
// expect: 1[5] = 128
__device__ int warp_sum(int v) {
    for (int m = 16; m > 0; m /= 2) v += __shfl_xor_sync(0xffffffffu, v, m);
    return v;
}

extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int sums[4];
    int v = warp_sum(in[threadIdx.x]);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v; // OTHER
    __syncwarp();
    int total = 0;
    for (int w = 0; w < 4; w++) total += sums[w]; // FAULT: data_race
    out[threadIdx.x] = total;
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int sums[4];
    int v = warp_sum(in[threadIdx.x]);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    int total = 0;
    for (int w = 0; w < 4; w++) total += sums[w];
    out[threadIdx.x] = total;
}
