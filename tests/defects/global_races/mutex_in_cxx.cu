// A mutex of relaxed exchanges orders nothing.
// launch: grid=4 block=1
// arg: buf:i32[1]=0
// arg: buf:i32[1]=0
// expect: 1[0] = 4
#include <cuda/atomic>
struct Mutex {
    cuda::atomic<int, cuda::thread_scope_device> taken;
    __device__ void lock(cuda::memory_order order) {
        while (taken.exchange(1, order) != 0) { }
    }
    __device__ void unlock(cuda::memory_order order) { taken.store(0, order); }
};

extern "C" __global__ void defect(Mutex* mutex, int* count) {
    mutex->lock(cuda::memory_order_relaxed);
    *count = *count + 1; // FAULT: data_race
    mutex->unlock(cuda::memory_order_relaxed);
}

extern "C" __global__ void fixed(Mutex* mutex, int* count) {
    mutex->lock(cuda::memory_order_acquire);
    *count = *count + 1;
    mutex->unlock(cuda::memory_order_release);
}
