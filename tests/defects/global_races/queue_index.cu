// Threads take the end of a queue without an atomic.
// launch: grid=2 block=32
// arg: in:i32[64]=iota%2
// arg: buf:i32[64]=-1
// arg: buf:i32[1]=0
// expect: 2[0] = 32
extern "C" __global__ void defect(const int* active, int* queue, int* tail) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (active[i]) {
        int slot = (*tail)++; // FAULT: data_race
        queue[slot] = i;
    }
}

extern "C" __global__ void fixed(const int* active, int* queue, int* tail) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (active[i]) {
        int slot = atomicAdd(tail, 1);
        queue[slot] = i;
    }
}
