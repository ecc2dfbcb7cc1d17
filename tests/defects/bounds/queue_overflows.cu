// A queue counts on beyond its capacity.
// launch: grid=1 block=64 also=80,100
// arg: in:i32[64]=iota
// arg: buf:i32[16]
// arg: buf:u32[1]=0
// expect: 2[0] = 32
extern "C" __global__ void defect(const int* in, int* queue, unsigned* tail) {
    int v = in[threadIdx.x];
    if (v % 2 == 0) {
        unsigned slot = atomicAdd(tail, 1u);
        queue[slot] = v; // FAULT: out_of_bounds
    }
}

extern "C" __global__ void fixed(const int* in, int* queue, unsigned* tail) {
    int v = in[threadIdx.x];
    if (v % 2 == 0) {
        unsigned slot = atomicAdd(tail, 1u);
        if (slot < 16) queue[slot] = v;
    }
}
