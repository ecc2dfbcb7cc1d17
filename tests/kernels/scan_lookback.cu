// Inclusive prefix sum over all blocks in one pass: decoupled look-back with flags beside the values.
__device__ unsigned next_tile;
extern "C" __global__ void scan_lookback(const unsigned* x, unsigned* y, volatile unsigned long long* state, int n) {
    __shared__ unsigned tile, before, s[256];
    if (threadIdx.x == 0) tile = atomicAdd(&next_tile, 1u);
    __syncthreads();
    unsigned i = tile * 256 + threadIdx.x, v = i < n ? x[i] : 0u;
    unsigned lane = threadIdx.x & 31;
    for (int d = 1; d < 32; d *= 2) { unsigned o = __shfl_up_sync(~0u, v, d); if (lane >= d) v += o; }
    if (lane == 31) s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 8) {
        unsigned t = s[threadIdx.x];
        for (int d = 1; d < 8; d *= 2) { unsigned o = __shfl_up_sync(0xffu, t, d, 8); if (threadIdx.x >= d) t += o; }
        s[threadIdx.x] = t;
    }
    __syncthreads();
    if (threadIdx.x >= 32) v += s[threadIdx.x / 32 - 1];
    if (threadIdx.x == 0) {
        unsigned sum = s[7], prefix = 0;
        state[tile] = (1ull << 32) | sum;
        __threadfence();
        for (int j = (int)tile - 1; j >= 0; j--) {
            unsigned long long w;
            do { w = state[j]; } while ((w >> 32) == 0);
            prefix += (unsigned)w;
            if ((w >> 32) == 2) break;
        }
        state[tile] = (2ull << 32) | (prefix + sum);
        before = prefix;
    }
    __syncthreads();
    if (i < n) y[i] = before + v;
}
