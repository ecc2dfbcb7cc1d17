// Odd lanes exchange with a mask that names all lanes, and the even lanes are not there.
// launch: grid=1 block=32 also=80,100 strict
// arg: in:i32[32]=iota
// arg: buf:i32[32]
// expect: 1[1] = 3
extern "C" __global__ void defect(const int* x, int* y) {
    int v = x[threadIdx.x];
    if (threadIdx.x % 2) {
        v = __shfl_xor_sync(0xffffffff, v, 2); // FAULT: warp_sync
    }
    y[threadIdx.x] = v;
}

extern "C" __global__ void fixed(const int* x, int* y) {
    int v = x[threadIdx.x];
    unsigned odd = __ballot_sync(0xffffffff, threadIdx.x % 2);
    if (threadIdx.x % 2) {
        v = __shfl_xor_sync(odd, v, 2);
    }
    y[threadIdx.x] = v;
}
