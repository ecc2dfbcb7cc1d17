// Half of each warp has left when the rest votes at a barrier for all.
// launch: grid=1 block=64 strict
// arg: in:i32[64]=1
// arg: buf:i32[1]
// expect: 1[0] = 1
extern "C" __global__ void defect(const int* ok, int* all) {
    if (threadIdx.x % 2) return;
    int every = __syncthreads_and(ok[threadIdx.x]); // FAULT: barrier_divergence
    if (threadIdx.x == 0) *all = every;
}

extern "C" __global__ void fixed(const int* ok, int* all) {
    int mine = threadIdx.x % 2 ? 1 : ok[threadIdx.x];
    int every = __syncthreads_and(mine);
    if (threadIdx.x == 0) *all = every != 0;
}
