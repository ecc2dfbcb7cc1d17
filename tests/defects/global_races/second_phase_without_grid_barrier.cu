// The second phase reads what other blocks write in the first one, and blocks wait for nobody.
// launch: grid=4 block=64 also=80,100
// arg: in:i32[256]=iota
// arg: buf:i32[256]
// arg: buf:i32[256]
// arg: buf:u32[1]=0
// expect: 2[0] = 255
extern "C" __global__ void defect(const int* x, int* mid, int* out, unsigned* arrived) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mid[255 - i] = x[i]; // FAULT: data_race
    __syncthreads();
    out[i] = mid[i]; // FAULT: data_race
}

extern "C" __global__ void fixed(const int* x, int* mid, int* out, unsigned* arrived) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    mid[255 - i] = x[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < gridDim.x) { }
        __threadfence();
    }
    __syncthreads();
    out[i] = mid[i];
}
