// The edge of the last tile is not filled, and the whole tile is multiplied.
// launch: grid=1 block=8,8 also=80,100
// arg: in:f32[48]=1
// arg: in:f32[48]=1
// arg: buf:f32[64]
// expect: 2[9] = 6
extern "C" __global__ void defect(const float* A, const float* B, float* C) {
    __shared__ float a[8][8], b[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    if (x < 6) a[y][x] = A[y * 6 + x];
    if (y < 6) b[y][x] = B[y * 8 + x];
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) sum = fmaf(a[y][k], b[k][x], sum);
    C[y * 8 + x] = sum; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const float* A, const float* B, float* C) {
    __shared__ float a[8][8], b[8][8];
    int x = threadIdx.x, y = threadIdx.y;
    a[y][x] = x < 6 ? A[y * 6 + x] : 0.0f;
    b[y][x] = y < 6 ? B[y * 8 + x] : 0.0f;
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) sum = fmaf(a[y][k], b[k][x], sum);
    C[y * 8 + x] = sum;
}
