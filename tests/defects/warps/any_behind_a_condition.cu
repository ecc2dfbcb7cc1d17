// Lanes with work ask whether any lane of the warp has an error, and those without do not take part.
// launch: grid=1 block=64 also=80,100 strict
// arg: in:f32[64]=iota
// arg: buf:i32[64]
// expect: 1[63] = 1
extern "C" __global__ void defect(const float* x, int* bad) {
    float v = x[threadIdx.x];
    int flag = 0;
    if (v > 20.0f) {
        flag = __any_sync(0xffffffff, v > 60.0f); // FAULT: warp_sync
    }
    bad[threadIdx.x] = flag;
}

extern "C" __global__ void fixed(const float* x, int* bad) {
    float v = x[threadIdx.x];
    int flag = __any_sync(0xffffffff, v > 60.0f);
    bad[threadIdx.x] = v > 20.0f ? flag : 0;
}
