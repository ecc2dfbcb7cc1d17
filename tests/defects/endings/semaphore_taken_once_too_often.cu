// Each thread takes two of four permits and gives one back.
// launch: grid=1 block=8 steps=300000 also=80,100
// arg: buf:i32[1]=4
// arg: buf:i32[1]=0
// expect: 1[0] = 8
__device__ bool take(int* permits) {
    int old = atomicSub(permits, 1);
    if (old > 0) return true;
    atomicAdd(permits, 1);
    return false;
}

extern "C" __global__ void defect(int* permits, int* done) {
    for (int k = 0; k < 2; k++)
        while (true) {
            int old = atomicCAS(permits, 0, 0); // FAULT: livelock
            if (old > 0 && atomicCAS(permits, old, old - 1) == old) break; // FAULT: livelock
        }
    atomicAdd(done, 1);
    atomicAdd(permits, 1);
}

extern "C" __global__ void fixed(int* permits, int* done) {
    while (!take(permits)) { }
    atomicAdd(done, 1);
    atomicAdd(permits, 1);
}
