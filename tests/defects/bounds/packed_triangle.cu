// The formula for a packed triangle counts rows from zero, and the caller counts them from one.
// launch: grid=1 block=8,8
// arg: in:f32[36]=iota
// arg: buf:f32[64]
// expect: 1[1] = 1
// expect: 1[63] = 35
__device__ int packed(int i, int j) { return i * (i + 1) / 2 + j; }

extern "C" __global__ void defect(const float* triangle, float* full) {
    int i = threadIdx.y, j = threadIdx.x;
    full[i * 8 + j] = triangle[packed(max(i, j) + 1, min(i, j))]; // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const float* triangle, float* full) {
    int i = threadIdx.y, j = threadIdx.x;
    full[i * 8 + j] = triangle[packed(max(i, j), min(i, j))];
}
