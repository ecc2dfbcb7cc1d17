// A consumer block waits for a flag that the producer sets to another value.
// launch: grid=2 block=1 steps=300000 also=80,100
// arg: buf:i32[1]=0
// arg: buf:i32[1]
// expect: 1[0] = 42
extern "C" __global__ void defect(volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *flag = 2;
    } else {
        while (*flag != 1) { } // FAULT: livelock
        *out = 42;
    }
}

extern "C" __global__ void fixed(volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *flag = 1;
    } else {
        while (*flag != 1) { }
        *out = 42;
    }
}
