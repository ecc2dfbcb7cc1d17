// A flag is stored and loaded with relaxed order, and the data behind it is plain.
// launch: grid=2 block=1
// arg: buf:i32[1]=0
// arg: buf:i32[1]=0
// arg: buf:i32[1]
// expect: 2[0] = 5
#include <cuda/atomic>
using flag_ref = cuda::atomic_ref<int, cuda::thread_scope_device>;

extern "C" __global__ void defect(int* data, int* flag, int* out) {
    flag_ref ready(*flag);
    if (blockIdx.x == 0) {
        *data = 5; // OTHER
        ready.store(1, cuda::memory_order_relaxed);
    } else {
        while (ready.load(cuda::memory_order_relaxed) == 0) { }
        *out = *data; // FAULT: data_race
    }
}

extern "C" __global__ void fixed(int* data, int* flag, int* out) {
    flag_ref ready(*flag);
    if (blockIdx.x == 0) {
        *data = 5;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0) { }
        *out = *data;
    }
}
