// Bitonic sort of 1,024 keys with their positions in shared memory.
extern "C" __global__ void sort_bitonic(unsigned* keys, unsigned* positions) {
    __shared__ unsigned k[1024];
    __shared__ unsigned short p[1024];
    int t = threadIdx.x, base = blockIdx.x * 1024;
    for (int i = t; i < 1024; i += blockDim.x) { k[i] = keys[base + i]; p[i] = i; }
    for (int size = 2; size <= 1024; size *= 2)
        for (int step = size / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int i = t; i < 512; i += blockDim.x) {
                int a = 2 * i - (i & (step - 1)), b = a + step;
                bool up = (a & size) == 0;
                if ((k[a] > k[b]) == up) { unsigned x = k[a]; k[a] = k[b]; k[b] = x; unsigned short y = p[a]; p[a] = p[b]; p[b] = y; }
            }
        }
    __syncthreads();
    for (int i = t; i < 1024; i += blockDim.x) { keys[base + i] = k[i]; positions[base + i] = p[i]; }
}
