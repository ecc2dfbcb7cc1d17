// The last six steps of a reduction rely on a warp being in lockstep, by volatile alone.
// launch: grid=1 block=64
// arg: in:i32[64]=1
// arg: buf:i32[1]
// expect: 1[0] = 64
__device__ void warp_reduce(int* sdata, int tid) {
    sdata[tid] += sdata[tid + 32]; // FAULT: data_race
    sdata[tid] += sdata[tid + 16]; // FAULT: data_race
    sdata[tid] += sdata[tid + 8]; // FAULT: data_race
    sdata[tid] += sdata[tid + 4]; // FAULT: data_race
    sdata[tid] += sdata[tid + 2]; // FAULT: data_race
    sdata[tid] += sdata[tid + 1]; // FAULT: data_race
}

__device__ void warp_reduce_in_steps(int* sdata, int tid) {
    int v = sdata[tid];
    for (int d = 32; d > 0; d >>= 1) {
        if (d < 32 || tid < 32) v += sdata[tid + d];
        __syncwarp();
        sdata[tid] = v;
        __syncwarp();
    }
}

extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int sdata[96];
    int tid = threadIdx.x;
    sdata[tid] = in[tid];
    if (tid < 32) sdata[tid + 64] = 0;
    __syncthreads();
    if (tid < 32) warp_reduce(sdata, tid);
    if (tid == 0) *out = sdata[0];
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int sdata[96];
    int tid = threadIdx.x;
    sdata[tid] = in[tid];
    if (tid < 32) sdata[tid + 64] = 0;
    __syncthreads();
    if (tid < 32) warp_reduce_in_steps(sdata, tid);
    if (tid == 0) *out = sdata[0];
}
