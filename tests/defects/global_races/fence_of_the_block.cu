// A fence that orders for the block only stands before a flag for another block.
// launch: grid=2 block=32 also=80,100
// arg: buf:i32[32]=0
// arg: buf:i32[1]=0
// arg: buf:i32[32]
// expect: 2[31] = 31
extern "C" __global__ void defect(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x; // OTHER
        __threadfence_block();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(flag, 1);
    } else {
        if (threadIdx.x == 0) while (atomicAdd(flag, 0) == 0) { }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x]; // FAULT: data_race
    }
}

extern "C" __global__ void fixed(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(flag, 1);
    } else {
        if (threadIdx.x == 0) {
            while (atomicAdd(flag, 0) == 0) { }
            __threadfence();
        }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x];
    }
}
