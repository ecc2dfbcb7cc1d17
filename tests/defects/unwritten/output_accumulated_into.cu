// The product is added to an output that nobody cleared.
// launch: grid=1 block=8,8
// arg: in:f32[64]=1
// arg: in:f32[64]=1
// arg: buf:f32[64]
// expect: 2[63] = 8
extern "C" __global__ void defect(const float* A, const float* B, float* C) {
    int row = threadIdx.y, col = threadIdx.x;
    float acc = 0;
    for (int k = 0; k < 8; k++) acc += A[row * 8 + k] * B[k * 8 + col];
    C[row * 8 + col] += acc; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const float* A, const float* B, float* C) {
    int row = threadIdx.y, col = threadIdx.x;
    float acc = 0;
    for (int k = 0; k < 8; k++) acc += A[row * 8 + k] * B[k * 8 + col];
    C[row * 8 + col] = acc;
}
