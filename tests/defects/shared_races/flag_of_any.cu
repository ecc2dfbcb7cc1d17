// A shared flag is reset for the next round before everybody has looked at it.
// launch: grid=1 block=64 also=80,100
// arg: buf:i32[64]=iota%5
// expect: 0[4] = 0
extern "C" __global__ void defect(int* work) {
    __shared__ int busy;
    int left = work[threadIdx.x];
    do {
        if (threadIdx.x == 0) busy = 0; // FAULT: data_race
        __syncthreads();
        if (left > 0) { left--; busy = 1; } // OTHER
        __syncthreads();
    } while (busy); // FAULT: data_race
    work[threadIdx.x] = left;
}

// Threads that have work left all store the same value.
extern "C" __global__ void fixed(int* work) {
    __shared__ int busy;
    int left = work[threadIdx.x];
    bool more;
    do {
        if (threadIdx.x == 0) busy = 0;
        __syncthreads();
        if (left > 0) { left--; busy = 1; }
        __syncthreads();
        more = busy;
        __syncthreads();
    } while (more);
    work[threadIdx.x] = left;
}
