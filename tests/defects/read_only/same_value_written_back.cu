// A relaxation writes to the weights even where nothing changes.
// launch: grid=1 block=16
// arg: in:i32[16]=iota
// arg: buf:i32[16]=100
// arg: i32:3
// expect: 1[15] = 18
extern "C" __global__ void defect(int* weight, int* distance, int through) {
    int i = threadIdx.x;
    int candidate = weight[i] + through;
    if (candidate < distance[i]) distance[i] = candidate;
    weight[i] = min(weight[i], 1000); // FAULT: read_only_write
}

extern "C" __global__ void fixed(int* weight, int* distance, int through) {
    int i = threadIdx.x;
    int candidate = weight[i] + through;
    if (candidate < distance[i]) distance[i] = candidate;
}
