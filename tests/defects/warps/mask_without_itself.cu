// The mask names the lower half, and the upper half executes the shuffle too.
// launch: grid=1 block=32 also=80,100
// arg: in:f32[32]=1
// arg: buf:f32[32]
// expect: 1[0] = 16
extern "C" __global__ void defect(const float* in, float* out) {
    float v = in[threadIdx.x];
    for (int offset = 8; offset > 0; offset /= 2)
        v += __shfl_down_sync(0x0000ffff, v, offset); // FAULT: warp_sync
    out[threadIdx.x] = v;
}

extern "C" __global__ void fixed(const float* in, float* out) {
    float v = in[threadIdx.x];
    unsigned mask = threadIdx.x < 16 ? 0x0000ffff : 0xffff0000;
    for (int offset = 8; offset > 0; offset /= 2)
        v += __shfl_down_sync(mask, v, offset, 16);
    out[threadIdx.x] = v;
}
