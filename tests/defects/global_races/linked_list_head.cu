// Nodes are pushed on a list by reading and storing its head.
// launch: grid=1 block=32 also=80,100
// arg: buf:i32[1]=-1
// arg: buf:i32[32]
// arg: buf:i32[1]=0
// expect: 2[0] = 32
extern "C" __global__ void defect(int* head, int* next, int* length) {
    int node = threadIdx.x;
    next[node] = *head; // FAULT: data_race
    *head = node; // FAULT: data_race
    atomicAdd(length, 1);
}

extern "C" __global__ void fixed(int* head, int* next, int* length) {
    int node = threadIdx.x;
    next[node] = atomicExch(head, node);
    __syncthreads();
    if (node == 0) {
        int n = 0;
        for (int at = *head; at >= 0; at = next[at]) n++;
        *length = n;
    }
}
