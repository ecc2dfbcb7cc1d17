// The mask of active lanes is taken before the branch and used within.
// launch: grid=1 block=64 strict
// arg: in:i32[64]=iota
// arg: buf:i32[64]=0
// expect: 1[63] = 64
extern "C" __global__ void defect(const int* x, int* y) {
    unsigned mask = __activemask();
    int v = x[threadIdx.x];
    if (v % 4 == 3) {
        int sum = __reduce_add_sync(mask, v + 1); // FAULT: warp_sync
        y[threadIdx.x] = sum;
    }
    y[threadIdx.x] = max(y[threadIdx.x], v + 1);
}

extern "C" __global__ void fixed(const int* x, int* y) {
    int v = x[threadIdx.x];
    unsigned mask = __ballot_sync(0xffffffff, v % 4 == 3);
    if (v % 4 == 3) {
        int sum = __reduce_min_sync(mask, v + 1);
        y[threadIdx.x] = sum;
    }
    y[threadIdx.x] = max(y[threadIdx.x], v + 1);
}
