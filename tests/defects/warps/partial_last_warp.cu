// Lanes behind the end have returned, and the sum takes values from them.
// launch: grid=1 block=32 also=80,100
// arg: in:f32[20]=1
// arg: buf:f32[1]
// arg: i32:20
// expect: 1[0] = 20
extern "C" __global__ void defect(const float* x, float* sum, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int d = 16; d > 0; d >>= 1)
        v += __shfl_down_sync(0xffffffff, v, d); // FAULT: warp_sync
    if (i == 0) *sum = v;
}

extern "C" __global__ void fixed(const float* x, float* sum, int n) {
    int i = threadIdx.x;
    unsigned mask = __ballot_sync(0xffffffff, i < n);
    if (i >= n) return;
    float v = x[i];
    for (int d = 16; d > 0; d >>= 1) {
        float other = __shfl_down_sync(mask, v, d);
        if (i + d < n) v += other;
    }
    if (i == 0) *sum = v;
}
