// Threads record the level at which they reach a vertex, and two of them store different parents.
// launch: grid=2 block=8 also=80,100
// arg: in:i32[16]=0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7
// arg: buf:i32[8]=-1
// arg: buf:i32[1]=0
// expect: 1[7] = 1
// expect: 2[0] = 1
extern "C" __global__ void defect(const int* target, int* parent, int* changed) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    parent[target[e]] = e; // FAULT: data_race
    *changed = 1;
}

// All store the same level and the same flag.
extern "C" __global__ void fixed(const int* target, int* level, int* changed) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    level[target[e]] = 1;
    *changed = 1;
}
