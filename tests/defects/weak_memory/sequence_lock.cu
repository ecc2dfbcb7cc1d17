// A reader compares a version before and behind two values, and no fence keeps the values between.
// launch: grid=5 block=1 replayed also=80,100
// arg: buf:i32[1]=0
// arg: buf:i32[2]=0
// arg: buf:i32[1]=0
// expect: 2[0] = 0
extern "C" __global__ void defect(volatile int* version, volatile int* pair, int* torn) {
    if (blockIdx.x == 0) {
        for (int v = 1; v <= 3; v++) {
            *version = 2 * v - 1;
            pair[0] = v;
            pair[1] = v;
            *version = 2 * v;
        }
        return;
    }
    for (int attempt = 0; attempt < 8; attempt++) {
        int before = *version;
        int a = pair[0], b = pair[1];
        if (before == *version && before % 2 == 0 && a != b)
            atomicAdd(torn, 1);
    }
}

extern "C" __global__ void fixed(volatile int* version, volatile int* pair, int* torn) {
    if (blockIdx.x == 0) {
        for (int v = 1; v <= 3; v++) {
            *version = 2 * v - 1;
            __threadfence();
            pair[0] = v;
            pair[1] = v;
            __threadfence();
            *version = 2 * v;
        }
        return;
    }
    for (int attempt = 0; attempt < 8; attempt++) {
        int before = *version;
        __threadfence();
        int a = pair[0], b = pair[1];
        __threadfence();
        if (before == *version && before % 2 == 0 && a != b)
            atomicAdd(torn, 1);
    }
}
