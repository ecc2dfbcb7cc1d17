// Sparse matrix times vector: one row a warp, CSR, read-only loads.
extern "C" __global__ void spmv(const int* __restrict__ begin, const int* __restrict__ column, const double* __restrict__ value, const double* __restrict__ x, double* y, int rows) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= rows) return;
    double sum = 0;
    for (int i = begin[row] + lane; i < begin[row + 1]; i += 32) sum += value[i] * x[column[i]];
    for (int o = 16; o; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
    if (lane == 0) y[row] = sum;
}
