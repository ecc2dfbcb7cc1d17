// Radix sort of floats with values in one block: four bits a pass, counts per thread and digit, a scan of the counts.
// Floats are sorted by their bits, flipped so that they order as unsigned.
#define RADIX_BITS 4
#define RADIX (1 << RADIX_BITS)

__device__ __forceinline__ unsigned flip(unsigned f) { return f ^ (-(int)(f >> 31) | 0x80000000u); }
__device__ __forceinline__ unsigned unflip(unsigned f) { return f ^ (((f >> 31) - 1) | 0x80000000u); }

template <int THREADS, int ITEMS> __device__ void sort_block(unsigned* keys, int* values) {
    __shared__ unsigned s_keys[THREADS * ITEMS];
    __shared__ int s_values[THREADS * ITEMS];
    __shared__ unsigned counts[RADIX][THREADS];
    __shared__ unsigned warp_sums[32];
    const int t = threadIdx.x;
    unsigned k[ITEMS];
    int v[ITEMS];
    for (int i = 0; i < ITEMS; i++) { k[i] = flip(keys[t * ITEMS + i]); v[i] = values[t * ITEMS + i]; }
    for (int shift = 0; shift < 32; shift += RADIX_BITS) {
        for (int d = 0; d < RADIX; d++) counts[d][t] = 0;
        unsigned rank[ITEMS];
        for (int i = 0; i < ITEMS; i++) rank[i] = counts[(k[i] >> shift) & (RADIX - 1)][t]++;
        __syncthreads();
        // Exclusive scan over counts[0][0], counts[0][1], ...: each thread takes RADIX consecutive ones.
        unsigned* mine = &counts[0][0] + t * RADIX;
        unsigned sum = 0;
        for (int d = 0; d < RADIX; d++) sum += mine[d];
        unsigned scan = sum;
        for (int o = 1; o < 32; o <<= 1) { unsigned n = __shfl_up_sync(0xffffffff, scan, o); if ((t & 31) >= o) scan += n; }
        if ((t & 31) == 31) warp_sums[t >> 5] = scan;
        __syncthreads();
        unsigned base = scan - sum;
        for (int w = 0; w < (t >> 5); w++) base += warp_sums[w];
        for (int d = 0; d < RADIX; d++) { unsigned c = mine[d]; mine[d] = base; base += c; }
        __syncthreads();
        for (int i = 0; i < ITEMS; i++) {
            unsigned at = counts[(k[i] >> shift) & (RADIX - 1)][t] + rank[i];
            s_keys[at] = k[i];
            s_values[at] = v[i];
        }
        __syncthreads();
        for (int i = 0; i < ITEMS; i++) { k[i] = s_keys[t * ITEMS + i]; v[i] = s_values[t * ITEMS + i]; }
        __syncthreads();
    }
    for (int i = 0; i < ITEMS; i++) { keys[t * ITEMS + i] = unflip(k[i]); values[t * ITEMS + i] = v[i]; }
}

extern "C" __global__ void __launch_bounds__(64) radix_sort(float* keys, int* values) {
    sort_block<64, 4>((unsigned*)keys + blockIdx.x * 256, values + blockIdx.x * 256);
}
