// A named barrier waits for 96 threads of a block that has 64.
// launch: grid=1 block=64 also=80,100
// arg: in:i32[64]=iota
// arg: buf:i32[64]
// expect: 1[0] = 63
template <int THREADS>
__device__ void meet() { asm volatile("barrier.sync 3, %0;" ::"n"(THREADS) : "memory"); }

extern "C" __global__ void defect(const int* x, int* y) {
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    asm volatile("barrier.sync 3, 96;" ::: "memory"); // FAULT: deadlock
    y[threadIdx.x] = s[63 - threadIdx.x];
}

extern "C" __global__ void fixed(const int* x, int* y) {
    __shared__ int s[64];
    s[threadIdx.x] = x[threadIdx.x];
    meet<64>();
    y[threadIdx.x] = s[63 - threadIdx.x];
}
