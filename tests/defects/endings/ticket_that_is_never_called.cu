// A ticket lock serves the next number only if the holder was in a hurry.
// launch: grid=4 block=1 steps=300000 also=80,100
// arg: buf:u32[2]=0
// arg: buf:i32[1]=0
// expect: 1[0] = 4
struct TicketLock {
    unsigned next, serving;
    __device__ void lock() {
        unsigned mine = atomicAdd(&next, 1u);
        while (*(volatile unsigned*)&serving != mine) { } // FAULT: livelock
        __threadfence();
    }
    __device__ void unlock(bool serve) {
        __threadfence();
        if (serve) atomicAdd(&serving, 1u);
    }
};

extern "C" __global__ void defect(TicketLock* lock, int* count) {
    lock->lock();
    *count += 1;
    lock->unlock(*count < 2);
}

extern "C" __global__ void fixed(TicketLock* lock, int* count) {
    lock->lock();
    *count += 1;
    lock->unlock(true);
}
