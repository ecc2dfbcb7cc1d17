// Lanes leave a loop one after the other, and those that stay vote for all.
// launch: grid=1 block=32 also=80,100 strict
// arg: in:i32[32]=iota%7
// arg: buf:i32[32]
// expect: 1[6] = 6
extern "C" __global__ void defect(const int* count, int* votes) {
    int sum = 0;
    for (int k = 0; k < count[threadIdx.x]; k++) {
        if (__ballot_sync(0xffffffff, k >= 0) != 0) sum++; // FAULT: warp_sync
    }
    votes[threadIdx.x] = sum;
}

extern "C" __global__ void fixed(const int* count, int* votes) {
    int sum = 0;
    unsigned mask = __ballot_sync(0xffffffff, count[threadIdx.x] > 0);
    for (int k = 0; k < count[threadIdx.x]; k++) {
        if (__ballot_sync(mask, k >= 0) != 0) sum++;
        mask = __ballot_sync(mask, k + 1 < count[threadIdx.x]);
    }
    votes[threadIdx.x] = sum;
}
