// A barrier stands behind `&&`, so only threads whose own value is large reach it.
// launch: grid=1 block=32 strict
// arg: in:i32[32]=iota
// arg: buf:i32[32]
// expect: 1[31] = 1
extern "C" __global__ void defect(const int* x, int* y) {
    bool large = x[threadIdx.x] > 15;
    bool all = large && __syncthreads_and(x[threadIdx.x] >= 0); // FAULT: barrier_divergence
    y[threadIdx.x] = all;
}

extern "C" __global__ void fixed(const int* x, int* y) {
    bool large = x[threadIdx.x] > 15;
    bool every = __syncthreads_and(x[threadIdx.x] >= 0);
    y[threadIdx.x] = large && every;
}
