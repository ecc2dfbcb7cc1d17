// A maximum of floats is a loop that compares, and stores without comparing again.
// launch: grid=2 block=32 also=80,100
// arg: in:f32[64]=iota
// arg: buf:u32[1]=0
// expect: 1[0] = 1115422720
extern "C" __global__ void defect(const float* x, unsigned* most) {
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    float seen = __uint_as_float(*most); // OTHER
    while (v > seen) {
        *most = __float_as_uint(v); // FAULT: data_race
        seen = v;
    }
}

extern "C" __global__ void fixed(const float* x, unsigned* most) {
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned seen = *most;
    while (v > __uint_as_float(seen)) {
        unsigned before = atomicCAS(most, seen, __float_as_uint(v));
        if (before == seen) break;
        seen = before;
    }
}
