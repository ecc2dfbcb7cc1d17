// A struct of bit-fields goes to the result with nothing set; its twin leaves only the bits unset that have no name.
// launch: grid=1 block=32 as-written also=80,100
// arg: in:u32[32]=5
// arg: buf:u32[32]
// expect: 1[31] = 69
struct Flags {
    unsigned kind : 3;
    unsigned level : 4;
};

extern "C" __global__ void defect(const unsigned* x, Flags* y) {
    Flags flags;
    y[threadIdx.x] = flags; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const unsigned* x, Flags* y) {
    Flags flags;
    flags.kind = x[threadIdx.x];
    flags.level = 8;
    y[threadIdx.x] = flags;
}
