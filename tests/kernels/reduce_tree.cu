// Minimum, maximum and double-precision sum of each block's slice, by a tree in shared memory.
extern "C" __global__ void reduce_tree(const int* x, int* lowest, int* highest, double* sum, int n) {
    __shared__ int low[256], high[256];
    __shared__ double total[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    low[t] = i < n ? x[i] : 0x7fffffff;
    high[t] = i < n ? x[i] : -0x7fffffff - 1;
    total[t] = i < n ? (double)x[i] : 0.0;
    for (int width = 128; width > 0; width /= 2) {
        __syncthreads();
        if (t < width) {
            low[t] = min(low[t], low[t + width]);
            high[t] = max(high[t], high[t + width]);
            total[t] += total[t + width];
        }
    }
    if (t == 0) { lowest[blockIdx.x] = low[0]; highest[blockIdx.x] = high[0]; sum[blockIdx.x] = total[0]; }
}
