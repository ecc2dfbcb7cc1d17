// Two blocks store different results to one word, each behind a fence of its own.
// launch: grid=2 block=1 also=80,100
// arg: buf:i32[1]=0
// expect: 0[0] = 2
extern "C" __global__ void defect(int* winner) {
    __threadfence();
    *winner = blockIdx.x + 1; // FAULT: data_race
}

extern "C" __global__ void fixed(int* winner) {
    __threadfence();
    atomicMax(winner, blockIdx.x + 1);
}
