// A thread that has converged leaves the loop, and the others wait for it at the barrier.
// launch: grid=1 block=64 strict
// arg: in:i32[64]=iota%5
// arg: buf:i32[64]
// expect: 1[4] = 4
extern "C" __global__ void defect(const int* need, int* rounds) {
    __shared__ int left;
    int done = 0;
    for (int k = 0; k < 8; k++) {
        if (done == need[threadIdx.x]) break;
        done++;
        if (threadIdx.x == 0) left = k;
        __syncthreads(); // FAULT: barrier_divergence
    }
    rounds[threadIdx.x] = done;
}

extern "C" __global__ void fixed(const int* need, int* rounds) {
    int done = 0;
    for (int k = 0; k < 8; k++) {
        bool more = done < need[threadIdx.x];
        if (more) done++;
        if (!__syncthreads_or(more)) break;
    }
    rounds[threadIdx.x] = done;
}
