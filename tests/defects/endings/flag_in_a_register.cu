// The loop over a plain flag reads it once, as compiled, and goes on for ever.
// launch: grid=2 block=1 steps=300000
// arg: buf:i32[1]=0
// arg: buf:i32[1]
// expect: 1[0] = 7
extern "C" __global__ void defect(int* flag, int* out) {
    if (blockIdx.x == 1) {
        atomicExch(flag, 1);
        return;
    }
    int spins = 0;
    while (*flag == 0) { // FAULT: step_limit
        spins++;
        if (spins < 0) out[0] = spins;
    }
    *out = 7;
}

extern "C" __global__ void fixed(int* flag, int* out) {
    if (blockIdx.x == 1) {
        atomicExch(flag, 1);
        return;
    }
    while (atomicAdd(flag, 0) == 0) { }
    *out = 7;
}
