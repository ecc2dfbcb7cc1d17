// Bit-fields of several widths beside padding: one that nothing set is written to the result.
// launch: grid=2 block=32 as-written also=80,100
// arg: in:u8[64]=1
// arg: buf:u32[64]
// expect: 1[40] = 2178
struct Options {
    unsigned char small : 2;
    unsigned char shown : 3;
    unsigned long long wide : 41;
    int sign : 5;
};

extern "C" __global__ void defect(const unsigned char* x, unsigned* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Options options;
    options.small = x[i];
    options.wide = 1u << 11;
    options.sign = -7;
    y[i] = (unsigned)options.wide * options.small + options.shown; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const unsigned char* x, unsigned* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Options options;
    options.small = x[i];
    options.shown = 5;
    options.wide = 1u << 11;
    options.sign = -7;
    Options kept = options;
    y[i] = (unsigned)kept.wide * kept.small + kept.shown + (unsigned)(kept.sign + 132);
}
