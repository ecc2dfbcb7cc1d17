// Softmax of each row, one block a row.
extern "C" __global__ void softmax(const float* x, float* y, int columns) {
    __shared__ float s[32];
    const float* row = x + (long long)blockIdx.x * columns;
    float highest = -__int_as_float(0x7f800000);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) highest = fmaxf(highest, row[c]);
    for (int o = 16; o; o >>= 1) highest = fmaxf(highest, __shfl_xor_sync(~0u, highest, o));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = highest;
    __syncthreads();
    highest = s[0];
    for (int w = 1; w < blockDim.x / 32; w++) highest = fmaxf(highest, s[w]);
    __syncthreads();
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += __expf(row[c] - highest);
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < blockDim.x / 32; w++) sum += s[w];
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        y[(long long)blockIdx.x * columns + c] = expf(row[c] - highest) / sum;
}
