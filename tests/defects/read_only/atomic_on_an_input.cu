// Degrees are counted in the list of edges itself.
// launch: grid=1 block=8 also=80,100
// arg: in:u32[8]=0,1,1,2,2,2,3,3
// arg: buf:u32[8]=0
// expect: 1[2] = 3
extern "C" __global__ void defect(unsigned* edges, unsigned* degree) {
    unsigned target = edges[threadIdx.x];
    atomicAdd(&edges[target], 1u); // FAULT: read_only_write
    degree[threadIdx.x] = target;
}

extern "C" __global__ void fixed(unsigned* edges, unsigned* degree) {
    unsigned target = edges[threadIdx.x];
    atomicAdd(&degree[target], 1u);
}
