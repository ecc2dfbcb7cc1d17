// One path through the critical section returns without giving the lock back.
// launch: grid=1 block=8 steps=300000 also=80,100
// arg: buf:i32[1]=0
// arg: buf:i32[1]=0
// arg: in:i32[8]=1,1,-1,1,1,1,1,1
// expect: 1[0] = 7
__device__ void take(int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) { } // FAULT: livelock
    __threadfence();
}
__device__ void give(int* lock) {
    __threadfence();
    atomicExch(lock, 0);
}

extern "C" __global__ void defect(int* lock, volatile int* total, const int* x) {
    take(lock);
    if (x[threadIdx.x] < 0) return;
    *total = *total + x[threadIdx.x];
    give(lock);
}

extern "C" __global__ void fixed(int* lock, volatile int* total, const int* x) {
    take(lock);
    if (x[threadIdx.x] >= 0) *total = *total + x[threadIdx.x];
    give(lock);
}
