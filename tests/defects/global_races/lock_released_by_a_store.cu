// A lock is given back by a plain store with no fence before it.
// launch: grid=4 block=1 also=80,100
// arg: buf:i32[1]=0
// arg: buf:i32[1]=0
// expect: 1[0] = 4
extern "C" __global__ void defect(int* lock, int* counter) {
    while (atomicCAS(lock, 0, 1) != 0) { } // OTHER
    __threadfence();
    *counter = *counter + 1; // FAULT: data_race
    *lock = 0; // FAULT: data_race
}

extern "C" __global__ void fixed(int* lock, int* counter) {
    while (atomicCAS(lock, 0, 1) != 0) { }
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0);
}
