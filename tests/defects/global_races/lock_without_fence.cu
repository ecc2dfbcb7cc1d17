// A lock is taken and given back with atomics, and nothing orders the data that it protects.
// launch: grid=4 block=1 also=80,100
// arg: buf:i32[1]=0
// arg: buf:i32[1]=0
// expect: 1[0] = 4
extern "C" __global__ void defect(int* lock, int* counter) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    *counter = *counter + 1; // FAULT: data_race
    atomicExch(lock, 0);
}

extern "C" __global__ void fixed(int* lock, int* counter) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0);
}
