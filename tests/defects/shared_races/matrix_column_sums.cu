// The threads of a column add to one shared sum.
// launch: grid=1 block=8,8
// arg: in:f32[64]=1
// arg: buf:f32[8]
// expect: 1[7] = 8
struct Sums { float column[8]; };

extern "C" __global__ void defect(const float* m, float* out) {
    __shared__ Sums sums;
    if (threadIdx.y == 0) sums.column[threadIdx.x] = 0;
    __syncthreads();
    sums.column[threadIdx.x] += m[threadIdx.y * 8 + threadIdx.x]; // FAULT: data_race
    __syncthreads();
    if (threadIdx.y == 0) out[threadIdx.x] = sums.column[threadIdx.x];
}

extern "C" __global__ void fixed(const float* m, float* out) {
    __shared__ Sums sums;
    if (threadIdx.y == 0) sums.column[threadIdx.x] = 0;
    __syncthreads();
    for (int y = 0; y < 8; y++) {
        if (threadIdx.y == y) sums.column[threadIdx.x] += m[y * 8 + threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.y == 0) out[threadIdx.x] = sums.column[threadIdx.x];
}
