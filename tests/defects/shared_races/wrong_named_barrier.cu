// The consumers wait at another named barrier than the one that the producers arrive at.
// launch: grid=1 block=128 also=80,100
// arg: in:i32[64]=iota
// arg: buf:i32[64]
// expect: 1[0] = 63
extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        s[t] = in[t]; // OTHER
        asm volatile("bar.sync 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        out[t] = s[63 - t]; // FAULT: data_race
    }
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x % 64;
    if (threadIdx.x < 64) {
        s[t] = in[t];
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        out[t] = s[63 - t];
    }
}
