// A flag says that a value is ready, and no fence keeps the value before the flag.
// launch: grid=2 block=1 also=80,100
// arg: buf:i32[1]=0
// arg: buf:i32[1]=0
// arg: buf:i32[1]
// expect: 2[0] = 42
extern "C" __global__ void defect(int* value, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *value = 42; // OTHER
        *flag = 1;
    } else {
        while (*flag == 0) { }
        *out = *value; // FAULT: data_race
    }
}

extern "C" __global__ void fixed(int* value, volatile int* flag, int* out) {
    if (blockIdx.x == 0) {
        *value = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) { }
        __threadfence();
        *out = *value;
    }
}
