// A word of flags of each thread is never cleared; one bit of it is set and another one tested.
// launch: grid=1 block=32 as-written also=80,100
// arg: in:u32[32]=3
// arg: buf:u32[32]
// expect: 1[7] = 4
extern "C" __global__ void defect(const unsigned* x, unsigned* y) {
    __shared__ unsigned flags[32];
    flags[threadIdx.x] |= 1u << x[threadIdx.x];
    if (flags[threadIdx.x] >> 4 & 1) // FAULT: uninitialized_read
        y[threadIdx.x] = 0;
    else
        y[threadIdx.x] = 4;
}

extern "C" __global__ void fixed(const unsigned* x, unsigned* y) {
    __shared__ unsigned flags[32];
    flags[threadIdx.x] = 0;
    flags[threadIdx.x] |= 1u << x[threadIdx.x];
    if (flags[threadIdx.x] >> 4 & 1)
        y[threadIdx.x] = 0;
    else
        y[threadIdx.x] = 4;
}
