// The next tile is loaded while slower warps still multiply with this one.
// launch: grid=1 block=16,16 also=80,100
// arg: in:f32[512]=1
// arg: in:f32[512]=1
// arg: buf:f32[256]
// expect: 2[255] = 32
#define T 16
extern "C" __global__ void defect(const float* A, const float* B, float* C) {
    __shared__ float As[T][T], Bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    float sum = 0;
    for (int m = 0; m < 2; ++m) {
        As[ty][tx] = A[ty * 32 + m * T + tx]; // OTHER
        Bs[ty][tx] = B[(m * T + ty) * T + tx]; // OTHER
        __syncthreads();
        for (int k = 0; k < T; ++k)
            sum += As[ty][k] * Bs[k][tx]; // FAULT: data_race
    }
    C[ty * T + tx] = sum;
}

extern "C" __global__ void fixed(const float* A, const float* B, float* C) {
    __shared__ float As[T][T], Bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    float sum = 0;
    for (int m = 0; m < 2; ++m) {
        As[ty][tx] = A[ty * 32 + m * T + tx];
        Bs[ty][tx] = B[(m * T + ty) * T + tx];
        __syncthreads();
        for (int k = 0; k < T; ++k)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    C[ty * T + tx] = sum;
}
