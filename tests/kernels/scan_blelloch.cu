// Exclusive prefix sum of 512 integers a block, up-sweep and down-sweep.
extern "C" __global__ void scan_blelloch(const int* x, int* y, int* totals) {
    __shared__ int s[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    s[2 * t] = x[base + 2 * t];
    s[2 * t + 1] = x[base + 2 * t + 1];
    int step = 1;
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[step * (2 * t + 2) - 1] += s[step * (2 * t + 1) - 1];
        step *= 2;
    }
    if (t == 0) { totals[blockIdx.x] = s[511]; s[511] = 0; }
    for (int d = 1; d < 512; d *= 2) {
        step >>= 1;
        __syncthreads();
        if (t < d) {
            int a = step * (2 * t + 1) - 1, b = step * (2 * t + 2) - 1, v = s[a];
            s[a] = s[b];
            s[b] += v;
        }
    }
    __syncthreads();
    y[base + 2 * t] = s[2 * t];
    y[base + 2 * t + 1] = s[2 * t + 1];
}
