// Peterson's lock without fences: both threads may be inside, and an increment is lost.
// launch: grid=2 block=1 replayed also=80,100
// arg: buf:i32[2]=0
// arg: buf:i32[1]=0
// arg: buf:i32[1]=0
// expect: 2[0] = 6
extern "C" __global__ void defect(volatile int* wants, volatile int* turn, volatile int* count) {
    int me = blockIdx.x, other = 1 - me;
    for (int round = 0; round < 3; round++) {
        wants[me] = 1;
        *turn = other;
        while (wants[other] == 1 && *turn == other) { }
        *count = *count + 1;
        wants[me] = 0;
    }
}

extern "C" __global__ void fixed(volatile int* wants, volatile int* turn, volatile int* count) {
    int me = blockIdx.x, other = 1 - me;
    for (int round = 0; round < 3; round++) {
        wants[me] = 1;
        *turn = other;
        __threadfence();
        while (wants[other] == 1 && *turn == other) { }
        __threadfence();
        *count = *count + 1;
        __threadfence();
        wants[me] = 0;
    }
}
