// The index of a large matrix is computed in 32 bits and wraps to a negative number.
// launch: grid=1 block=4
// arg: in:f32[1024]=iota
// arg: buf:f32[4]
// arg: i32:70000
// arg: i32:1024
// expect: 1[1] = 112
extern "C" __global__ void defect(const float* ring, float* out, int pitch, int length) {
    int row = 50000 + threadIdx.x;
    int offset = row * pitch;
    out[threadIdx.x] = ring[offset % length]; // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const float* ring, float* out, int pitch, int length) {
    int row = 50000 + threadIdx.x;
    long long offset = (long long)row * pitch;
    out[threadIdx.x] = ring[offset % length];
}
