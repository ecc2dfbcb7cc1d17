// The minimum is stored by whoever sees a larger one.
// launch: grid=2 block=32
// arg: in:i32[64]=iota
// arg: buf:i32[1]=1000
// expect: 1[0] = 0
extern "C" __global__ void defect(const int* x, int* least) {
    int v = x[63 - (blockIdx.x * blockDim.x + threadIdx.x)];
    if (v < *least) *least = v; // FAULT: data_race
}

// Looking first saves atomics; the atomic decides.
extern "C" __global__ void fixed(const int* x, int* least) {
    int v = x[63 - (blockIdx.x * blockDim.x + threadIdx.x)];
    if (v < *least) atomicMin(least, v);
}
