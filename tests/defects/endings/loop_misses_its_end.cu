// A loop steps by two and waits for an odd number to be hit exactly.
// launch: grid=1 block=32 steps=200000 also=80
// arg: buf:u32[32]
// arg: u32:7
// expect: 0[0] = 12
extern "C" __global__ void defect(volatile unsigned* out, unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i != n; i += 2) { // FAULT: step_limit
        sum += i; // FAULT: step_limit
        out[threadIdx.x] = sum; // FAULT: step_limit
    }
}

extern "C" __global__ void fixed(unsigned* out, unsigned n) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i += 2) sum += i;
    out[threadIdx.x] = sum;
}
