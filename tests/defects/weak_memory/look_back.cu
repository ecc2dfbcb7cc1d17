// Blocks add up what those before them announce; no fence keeps a value before its state.
// launch: grid=6 block=32 replayed also=80,100
// arg: buf:i32[6]=0
// arg: buf:i32[6]=0
// arg: buf:i32[6]=0
// arg: buf:i32[6]
// expect: 3[5] = 21
// expect: 3[2] = 6
extern "C" __global__ void defect(
    volatile int* own, volatile int* prefix, volatile int* state, int* out
) {
    if (threadIdx.x != 0) return;
    int b = blockIdx.x;
    own[b] = b + 1;
    state[b] = 1;
    int sum = b + 1;
    for (int before = b - 1; before >= 0; before--) {
        int s;
        while ((s = state[before]) == 0) { }
        if (s == 2) {
            sum += prefix[before];
            break;
        }
        sum += own[before];
    }
    prefix[b] = sum;
    state[b] = 2;
    out[b] = sum;
}

extern "C" __global__ void fixed(
    volatile int* own, volatile int* prefix, volatile int* state, int* out
) {
    if (threadIdx.x != 0) return;
    int b = blockIdx.x;
    own[b] = b + 1;
    __threadfence();
    state[b] = 1;
    int sum = b + 1;
    for (int before = b - 1; before >= 0; before--) {
        int s;
        while ((s = state[before]) == 0) { }
        __threadfence();
        if (s == 2) {
            sum += prefix[before];
            break;
        }
        sum += own[before];
    }
    prefix[b] = sum;
    __threadfence();
    state[b] = 2;
    out[b] = sum;
}
