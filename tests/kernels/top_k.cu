// The k largest of each row with their places: one warp a row, each lane keeps a sorted list in registers, then the
// heads compete k times. Greedy decoding beside it: the place of the maximum by one 64-bit atomic.
template <int K> __device__ void insert(float (&best)[K], int (&place)[K], float v, int i) {
    if (!(v > best[K - 1])) return;
    best[K - 1] = v; place[K - 1] = i;
#pragma unroll
    for (int j = K - 1; j > 0; j--)
        if (best[j] > best[j - 1]) {
            float b = best[j]; best[j] = best[j - 1]; best[j - 1] = b;
            int p = place[j]; place[j] = place[j - 1]; place[j - 1] = p;
        }
}

extern "C" __global__ void top_k(const float* x, float* values, int* places, int rows, int columns) {
    constexpr int K = 4;
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (row >= rows) return;
    float best[K];
    int place[K];
    for (int j = 0; j < K; j++) { best[j] = __int_as_float(0xff800000); place[j] = 0x7fffffff; }
    for (int i = lane; i < columns; i += 32) insert<K>(best, place, x[row * columns + i], i);
    for (int r = 0; r < K; r++) {
        float v = best[0];
        int p = place[0];
        for (int o = 16; o; o >>= 1) {
            float ov = __shfl_xor_sync(~0u, v, o);
            int op = __shfl_xor_sync(~0u, p, o);
            if (ov > v || (ov == v && op < p)) { v = ov; p = op; }
        }
        if (place[0] == p) {  // mine won: move the list up
            for (int j = 0; j + 1 < K; j++) { best[j] = best[j + 1]; place[j] = place[j + 1]; }
            best[K - 1] = __int_as_float(0xff800000); place[K - 1] = 0x7fffffff;
        }
        if (lane == r) { values[row * K + r] = v; places[row * K + r] = p; }
    }
}

extern "C" __global__ void argmax(const float* x, unsigned long long* packed, int n) {
    unsigned long long mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned bits = __float_as_uint(x[i]);
        unsigned key = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
        unsigned long long candidate = ((unsigned long long)key << 32) | (0xffffffffu - i);
        mine = max(mine, candidate);
    }
    for (int o = 16; o; o >>= 1) mine = max(mine, __shfl_down_sync(0xffffffffu, mine, o));
    if ((threadIdx.x & 31) == 0) atomicMax(packed, mine);
}
