// The mask of the lanes with work is computed before the loop and not again when lanes run out of work.
// launch: grid=1 block=32 also=80,100
// arg: in:i32[32]=iota
// arg: buf:i32[32]
// expect: 1[0] = 0
extern "C" __global__ void defect(const int* work, int* out) {
    int left = work[threadIdx.x], sum = 0;
    unsigned mask = __ballot_sync(0xffffffff, left > 0);
    while (left > 0) {
        sum += __shfl_xor_sync(mask, left, 1) & 1; // FAULT: warp_sync
        left -= 8;
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void fixed(const int* work, int* out) {
    int left = work[threadIdx.x], sum = 0;
    while (__any_sync(0xffffffff, left > 0)) {
        int other = __shfl_xor_sync(0xffffffff, left, 1) & 1;
        if (left > 0) sum += other;
        left -= 8;
    }
    out[threadIdx.x] = sum - sum;
}
