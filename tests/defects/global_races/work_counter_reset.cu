// The counter of a persistent kernel is reset by the first thread while others take numbers from it.
// launch: grid=2 block=32 also=80,100
// arg: buf:u32[1]=0
// arg: buf:i32[200]=0
// arg: buf:u32[1]=0
// expect: 1[199] = 1
// expect: 0[0] = 0
extern "C" __global__ void defect(unsigned* next, int* done, unsigned* finished) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *next = 0; // FAULT: data_race
    __syncthreads();
    for (unsigned i = atomicAdd(next, 1u); i < 200; i = atomicAdd(next, 1u)) // OTHER
        done[i] = 1;
}

// The last thread to finish resets the counter for the next launch.
extern "C" __global__ void fixed(unsigned* next, int* done, unsigned* finished) {
    for (unsigned i = atomicAdd(next, 1u); i < 200; i = atomicAdd(next, 1u))
        done[i] = 1;
    __threadfence();
    if (atomicInc(finished, gridDim.x * blockDim.x - 1) == gridDim.x * blockDim.x - 1)
        *next = 0;
}
