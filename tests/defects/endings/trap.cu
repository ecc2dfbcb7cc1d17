// A check of the block size compares with the wrong number and traps.
// launch: grid=1 block=128
// arg: buf:i32[128]
// expect: 0[127] = 127
template <int THREADS>
__device__ void require_block() {
    if (blockDim.x != THREADS) __trap(); // FAULT: trap
}

extern "C" __global__ void defect(int* out) {
    require_block<256>();
    out[threadIdx.x] = threadIdx.x;
}

extern "C" __global__ void fixed(int* out) {
    require_block<128>();
    out[threadIdx.x] = threadIdx.x;
}
