// The first thread of a stencil reads one element before the beginning.
// launch: grid=2 block=128 also=80,100
// arg: in:f32[256]=iota
// arg: buf:f32[256]
// arg: i32:256
// expect: 1[0] = 0
// expect: 1[7] = 7
extern "C" __global__ void defect(const float* u, float* v, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n - 1) {
        v[i] = (u[i - 1] + u[i] + u[i + 1]) / 3.0f; // FAULT: out_of_bounds
    }
}

extern "C" __global__ void fixed(const float* u, float* v, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i > 0 && i < n - 1) {
        v[i] = (u[i - 1] + u[i] + u[i + 1]) / 3.0f;
    } else if (i < n) {
        v[i] = u[i];
    }
}
