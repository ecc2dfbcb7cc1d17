// Two warps take the same two locks in opposite order.
// launch: grid=1 block=64 steps=300000
// arg: buf:i32[2]=0
// arg: buf:i32[2]=100
// expect: 1[0] = 100
__device__ bool try_take(int* lock) { 
    return atomicCAS(lock, 0, 1) == 0; // FAULT: livelock
}
__device__ void take(int* lock) {
    while (!try_take(lock)) __nanosleep(20); // FAULT: livelock
}
__device__ void give(int* lock) { __threadfence(); atomicExch(lock, 0); }

extern "C" __global__ void defect(int* locks, volatile int* accounts) {
    int from = threadIdx.x / 32, to = 1 - from;
    if (threadIdx.x % 32 == 0) {
        for (int k = 0; k < 200; k++) {
            take(&locks[from]);
            __nanosleep(100);
            take(&locks[to]);
            accounts[from] = accounts[from] - 1;
            accounts[to] = accounts[to] + 1;
            give(&locks[to]);
            give(&locks[from]);
        }
    }
}

extern "C" __global__ void fixed(int* locks, volatile int* accounts) {
    int from = threadIdx.x / 32, to = 1 - from;
    if (threadIdx.x % 32 == 0) {
        for (int k = 0; k < 200; k++) {
            take(&locks[0]);
            __nanosleep(100);
            take(&locks[1]);
            __threadfence();
            accounts[from] = accounts[from] - 1;
            accounts[to] = accounts[to] + 1;
            give(&locks[1]);
            give(&locks[0]);
        }
    }
}
