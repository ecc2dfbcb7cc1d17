// A consumer warp reads a ring in global memory without waiting for the producer warp.
// launch: grid=1 block=64 also=80,100
// arg: in:i32[128]=iota
// arg: buf:i32[32]
// arg: buf:i32[1]=0
// expect: 2[0] = 8128
extern "C" __global__ void defect(const int* in, int* ring, int* sum) {
    int lane = threadIdx.x % 32;
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x < 32) ring[lane] = in[k * 32 + lane]; // OTHER
        else atomicAdd(sum, ring[31 - lane]); // FAULT: data_race
        __syncthreads();
    }
}

extern "C" __global__ void fixed(const int* in, int* ring, int* sum) {
    int lane = threadIdx.x % 32;
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x < 32) ring[lane] = in[k * 32 + lane];
        __syncthreads();
        if (threadIdx.x >= 32) atomicAdd(sum, ring[31 - lane]);
        __syncthreads();
    }
}
