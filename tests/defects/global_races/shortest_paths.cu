// Distances are relaxed by comparing and storing in two steps.
// launch: grid=2 block=8 also=80,100
// arg: in:i32[16]=0,0,1,1,2,2,3,3,0,0,1,1,2,2,3,3
// arg: in:i32[16]=9,5,9,5,9,5,9,5,8,4,8,4,8,4,8,4
// arg: buf:i32[4]=100
// expect: 2[3] = 4
extern "C" __global__ void defect(const int* target, const int* cost, int* distance) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int d = cost[e];
    if (d < distance[target[e]]) // OTHER
        distance[target[e]] = d; // FAULT: data_race
}

extern "C" __global__ void fixed(const int* target, const int* cost, int* distance) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    atomicMin(&distance[target[e]], cost[e]);
}
