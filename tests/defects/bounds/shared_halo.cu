// The tile in shared memory has room for one halo cell, but two are stored.
// launch: grid=4 block=64 also=80,100
// arg: in:f32[256]=1
// arg: buf:f32[256]
// expect: 1[100] = 3
constexpr int BLOCK = 64;
constexpr int RADIUS = 1;

extern "C" __global__ void defect(const float* in, float* out) {
    __shared__ float tile[BLOCK + RADIUS];
    int g = blockIdx.x * BLOCK + threadIdx.x;
    int l = threadIdx.x + RADIUS;
    tile[l] = in[g];
    if (threadIdx.x < RADIUS) {
        tile[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0.0f;
        tile[l + BLOCK] = g + BLOCK < 256 ? in[g + BLOCK] : 0.0f; // FAULT: out_of_bounds
    }
    __syncthreads();
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) sum += tile[l + k];
    out[g] = sum;
}

extern "C" __global__ void fixed(const float* in, float* out) {
    __shared__ float tile[BLOCK + 2 * RADIUS];
    int g = blockIdx.x * BLOCK + threadIdx.x;
    int l = threadIdx.x + RADIUS;
    tile[l] = in[g];
    if (threadIdx.x < RADIUS) {
        tile[l - RADIUS] = g >= RADIUS ? in[g - RADIUS] : 0.0f;
        tile[l + BLOCK] = g + BLOCK < 256 ? in[g + BLOCK] : 0.0f;
    }
    __syncthreads();
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) sum += tile[l + k];
    out[g] = sum;
}
