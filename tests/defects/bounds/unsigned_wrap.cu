// An unsigned index minus one wraps around at zero and passes the guard of the other end.
// launch: grid=1 block=64
// arg: in:u32[64]=iota
// arg: buf:u32[64]
// expect: 1[0] = 0
// expect: 1[63] = 1
extern "C" __global__ void defect(const unsigned* values, unsigned* gaps) {
    unsigned i = threadIdx.x;
    unsigned previous = values[i - 1u]; // FAULT: out_of_bounds
    gaps[i] = values[i] - previous;
}

extern "C" __global__ void fixed(const unsigned* values, unsigned* gaps) {
    unsigned i = threadIdx.x;
    unsigned previous = i > 0 ? values[i - 1u] : values[0];
    gaps[i] = values[i] - previous;
}
