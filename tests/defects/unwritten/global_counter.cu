// The counter in global memory is allocated and never set to zero.
// launch: grid=2 block=32
// arg: in:f32[64]=normal
// arg: buf:u32[1]
// arg: buf:u32[1]=0
// expect: 2[0] = 64
extern "C" __global__ void defect(const float* x, unsigned* count, unsigned* zeroed) {
    if (x[blockIdx.x * 32 + threadIdx.x] > -100.0f)
        atomicAdd(count, 1u); // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const float* x, unsigned* count, unsigned* zeroed) {
    if (x[blockIdx.x * 32 + threadIdx.x] > -100.0f)
        atomicAdd(zeroed, 1u);
}
