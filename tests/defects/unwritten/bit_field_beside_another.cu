// One field of a word of bit-fields is set, its neighbour in the same byte is read.
// launch: grid=1 block=32 as-written also=80,100
// arg: in:u32[32]=5
// arg: buf:u32[32]
// expect: 1[31] = 13
struct Flags {
    unsigned kind : 3;
    unsigned level : 4;
    unsigned : 9;
    unsigned count : 16;
};

__device__ __noinline__ unsigned sum(Flags flags) { return flags.kind + flags.level; }

extern "C" __global__ void defect(const unsigned* x, unsigned* y) {
    Flags flags;
    flags.kind = x[threadIdx.x];
    Flags copy = flags;
    unsigned total = 0;
    if (sum(copy) > 7) // FAULT: uninitialized_read
        total = 13;
    y[threadIdx.x] = total;
}

extern "C" __global__ void fixed(const unsigned* x, unsigned* y) {
    Flags flags;
    flags.kind = x[threadIdx.x];
    flags.level = 8;
    Flags copy = flags;
    unsigned total = 0;
    if (sum(copy) > 7)
        total = 13;
    y[threadIdx.x] = total;
}
