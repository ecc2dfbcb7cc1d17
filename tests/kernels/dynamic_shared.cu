// Dynamic shared memory, carved into arrays of two types; a transpose without bank conflicts.
extern __shared__ __align__(16) unsigned char raw[];
extern "C" __global__ void dynamic_shared(const float* x, float* y, int rows, int columns) {
    float* tile = (float*)raw;
    int* seen = (int*)(raw + 33 * 32 * 4);
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += blockDim.y)
        if (c < columns && r + k < rows) { tile[k * 33 + threadIdx.x] = x[(r + k) * columns + c]; seen[k] = 1; }
    __syncthreads();
    int o = blockIdx.y * 32 + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += blockDim.y)
        if (o < rows && blockIdx.x * 32 + k < columns) y[(blockIdx.x * 32 + k) * rows + o] = tile[threadIdx.x * 33 + k] * seen[threadIdx.x];
}
