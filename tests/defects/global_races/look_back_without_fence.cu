// A look-back scan publishes its state before the sum that belongs to it is visible.
// launch: grid=4 block=32
// arg: in:i32[128]=1
// arg: buf:i32[4]=0
// arg: buf:i32[4]=0
// arg: buf:i32[128]
// expect: 3[127] = 128
__device__ int warp_scan(int v) {
    for (int d = 1; d < 32; d *= 2) {
        int w = __shfl_up_sync(~0u, v, d);
        if (threadIdx.x >= d) v += w;
    }
    return v;
}

extern "C" __global__ void defect(const int* x, int* sums, volatile int* ready, int* out) {
    int b = blockIdx.x;
    int v = warp_scan(x[b * 32 + threadIdx.x]);
    int before = 0;
    if (threadIdx.x == 31) {
        if (b > 0) {
            while (ready[b - 1] == 0) { }
            before = sums[b - 1]; // FAULT: data_race
        }
        sums[b] = before + v; // OTHER
        ready[b] = 1;
    }
    before = __shfl_sync(~0u, before, 31);
    out[b * 32 + threadIdx.x] = before + v;
}

extern "C" __global__ void fixed(const int* x, int* sums, volatile int* ready, int* out) {
    int b = blockIdx.x;
    int v = warp_scan(x[b * 32 + threadIdx.x]);
    int before = 0;
    if (threadIdx.x == 31) {
        if (b > 0) {
            while (ready[b - 1] == 0) { }
            __threadfence();
            before = sums[b - 1];
        }
        sums[b] = before + v;
        __threadfence();
        ready[b] = 1;
    }
    before = __shfl_sync(~0u, before, 31);
    out[b * 32 + threadIdx.x] = before + v;
}
