// A loop counts down to zero from a length that may be negative.
// launch: grid=1 block=4 steps=100000 also=80,100
// arg: in:i32[4]=2,0,-1,3
// arg: buf:i32[4]=0
// expect: 1[3] = 3
extern "C" __global__ void defect(const int* lengths, volatile int* out) {
    unsigned left = lengths[threadIdx.x];
    while (left-- > 0) // FAULT: step_limit
        out[threadIdx.x] = out[threadIdx.x] + 1; // FAULT: step_limit
}

extern "C" __global__ void fixed(const int* lengths, volatile int* out) {
    int left = lengths[threadIdx.x];
    while (left-- > 0)
        out[threadIdx.x] = out[threadIdx.x] + 1;
}
