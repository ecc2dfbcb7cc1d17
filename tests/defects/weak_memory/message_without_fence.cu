// A message and its flag are volatile, and no fence keeps the message before the flag.
// launch: grid=2 block=1 replayed also=80,100
// arg: buf:i32[1]=0
// arg: buf:i32[1]=0
// arg: buf:i32[1]
// expect: 2[0] = 42
extern "C" __global__ void defect(volatile int* message, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *message = 42;
        *flag = 1;
    } else {
        while (*flag == 0) { }
        *out = *message;
    }
}

extern "C" __global__ void fixed(volatile int* message, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *message = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) { }
        __threadfence();
        *out = *message;
    }
}
