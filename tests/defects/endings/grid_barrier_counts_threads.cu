// A barrier over the grid waits for as many arrivals as threads, and one per block arrives.
// launch: grid=4 block=32 steps=300000 also=80,100
// arg: buf:u32[1]=0
// arg: buf:i32[4]=0
// arg: buf:i32[1]=0
// expect: 2[0] = 4
__device__ void grid_barrier(unsigned* arrived, unsigned expected) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < expected) { } // FAULT: livelock
        __threadfence();
    }
    __syncthreads();
}

extern "C" __global__ void defect(unsigned* arrived, int* parts, int* sum) {
    if (threadIdx.x == 0) parts[blockIdx.x] = 1;
    grid_barrier(arrived, gridDim.x * blockDim.x);
    if (blockIdx.x == 0 && threadIdx.x < 4) atomicAdd(sum, parts[threadIdx.x]);
}

extern "C" __global__ void fixed(unsigned* arrived, int* parts, int* sum) {
    if (threadIdx.x == 0) parts[blockIdx.x] = 1;
    grid_barrier(arrived, gridDim.x);
    if (blockIdx.x == 0 && threadIdx.x < 4) atomicAdd(sum, parts[threadIdx.x]);
}
