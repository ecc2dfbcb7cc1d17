// Every block waits for the next one, and there are more blocks than fit on the device.
// launch: grid=4400 block=1024 steps=3000000
// arg: buf:i32[4401]=0
// expect: 0[4399] = 1
extern "C" __global__ void defect(volatile int* ready) {
    if (threadIdx.x != 0) return;
    int b = blockIdx.x;
    if (b + 1 < gridDim.x) {
        while (ready[b + 1] == 0) { } // FAULT: residency
    }
    ready[b] = 1;
}

extern "C" __global__ void fixed(volatile int* ready) {
    if (threadIdx.x != 0) return;
    int b = blockIdx.x;
    if (b > 0) {
        while (ready[b - 1] == 0) { }
    }
    ready[b] = 1;
}
