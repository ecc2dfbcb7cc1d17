// A message and its flag are written by relaxed atomics, which order nothing.
// launch: grid=2 block=1 replayed also=80,100
// arg: buf:i32[1]=0
// arg: buf:i32[1]=0
// arg: buf:i32[1]
// expect: 2[0] = 42
#include <cuda/atomic>

using Shared = cuda::atomic_ref<int, cuda::thread_scope_device>;

extern "C" __global__ void defect(int* message, int* flag, int* out) {
    if (blockIdx.x == 0) {
        Shared(*message).store(42, cuda::memory_order_relaxed);
        Shared(*flag).store(1, cuda::memory_order_relaxed);
    } else {
        while (Shared(*flag).load(cuda::memory_order_relaxed) == 0) { }
        *out = Shared(*message).load(cuda::memory_order_relaxed);
    }
}

extern "C" __global__ void fixed(int* message, int* flag, int* out) {
    if (blockIdx.x == 0) {
        Shared(*message).store(42, cuda::memory_order_relaxed);
        Shared(*flag).store(1, cuda::memory_order_release);
    } else {
        while (Shared(*flag).load(cuda::memory_order_acquire) == 0) { }
        *out = Shared(*message).load(cuda::memory_order_relaxed);
    }
}
