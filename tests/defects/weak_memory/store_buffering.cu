// Two blocks announce themselves and look for each other without a fence: both may miss the other.
// launch: grid=2 block=1 replayed also=80,100
// arg: buf:i32[2]=0
// arg: buf:i32[1]=0
// expect: 1[0] = 1
extern "C" __global__ void defect(volatile int* here, int* alone) {
    int me = blockIdx.x;
    here[me] = 1;
    if (here[1 - me] == 0)
        atomicAdd(alone, 1);
}

extern "C" __global__ void fixed(volatile int* here, int* alone) {
    int me = blockIdx.x;
    here[me] = 1;
    __threadfence();
    if (here[1 - me] == 0)
        atomicAdd(alone, 1);
}
