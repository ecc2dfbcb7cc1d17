// A tiled product loads its tiles without looking where the matrix ends.
// launch: grid=2,2 block=8,8
// arg: in:f32[130]=1
// arg: in:f32[130]=1
// arg: buf:f32[100]
// arg: i32:10
// arg: i32:10
// arg: i32:13
// expect: 2[99] = 13
#define TS 8
extern "C" __global__ void defect(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float As[TS][TS], Bs[TS][TS];
    int row = blockIdx.y * TS + threadIdx.y, col = blockIdx.x * TS + threadIdx.x;
    float acc = 0;
    for (int t = 0; t < (K + TS - 1) / TS; t++) {
        As[threadIdx.y][threadIdx.x] = A[row * K + t * TS + threadIdx.x]; // FAULT: out_of_bounds
        Bs[threadIdx.y][threadIdx.x] = B[(t * TS + threadIdx.y) * N + col]; // FAULT: out_of_bounds
        __syncthreads();
        for (int k = 0; k < TS; k++) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}

extern "C" __global__ void fixed(const float* A, const float* B, float* C, int M, int N, int K) {
    __shared__ float As[TS][TS], Bs[TS][TS];
    int row = blockIdx.y * TS + threadIdx.y, col = blockIdx.x * TS + threadIdx.x;
    float acc = 0;
    for (int t = 0; t < (K + TS - 1) / TS; t++) {
        int ak = t * TS + threadIdx.x, bk = t * TS + threadIdx.y;
        As[threadIdx.y][threadIdx.x] = row < M && ak < K ? A[row * K + ak] : 0.0f;
        Bs[threadIdx.y][threadIdx.x] = bk < K && col < N ? B[bk * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TS; k++) acc += As[threadIdx.y][k] * Bs[k][threadIdx.x];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = acc;
}
