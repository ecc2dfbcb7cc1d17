// A warp reduction stands inside the guard of the last elements, and the others wait at the barrier of the block.
// launch: grid=1 block=64 also=80,100
// arg: in:i32[40]=1
// arg: buf:i32[1]
// arg: i32:40
// expect: 1[0] = 40
extern "C" __global__ void defect(const int* x, int* out, int n) {
    __shared__ int sums[2];
    int i = threadIdx.x;
    if (i < n) {
        int v = x[i];
        for (int d = 16; d > 0; d >>= 1)
            v += __shfl_down_sync(0xffffffff, v, d); // FAULT: warp_sync
        if (i % 32 == 0) sums[i / 32] = v;
    }
    __syncthreads();
    if (i == 0) *out = sums[0] + sums[1];
}

extern "C" __global__ void fixed(const int* x, int* out, int n) {
    __shared__ int sums[2];
    int i = threadIdx.x;
    int v = i < n ? x[i] : 0;
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (i % 32 == 0) sums[i / 32] = v;
    __syncthreads();
    if (i == 0) *out = sums[0] + sums[1];
}
