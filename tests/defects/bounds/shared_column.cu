// A padded tile is read with the stride of an unpadded one, and its last column is asked for once more.
// launch: grid=1 block=32
// arg: in:f32[1024]=iota
// arg: buf:f32[32]
// expect: 1[31] = 1023
extern "C" __global__ void defect(const float* in, float* out) {
    __shared__ float tile[32][33];
    for (int r = 0; r < 32; r++) tile[r][threadIdx.x] = in[r * 32 + threadIdx.x];
    if (threadIdx.x == 0) for (int r = 0; r < 32; r++) tile[r][32] = 0;
    __syncthreads();
    const float* flat = &tile[0][0];
    out[threadIdx.x] = flat[(threadIdx.x + 1) * 33]; // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const float* in, float* out) {
    __shared__ float tile[32][33];
    for (int r = 0; r < 32; r++) tile[r][threadIdx.x] = in[r * 32 + threadIdx.x];
    __syncthreads();
    const float* flat = &tile[0][0];
    out[threadIdx.x] = flat[threadIdx.x * 33 + threadIdx.x];
}
