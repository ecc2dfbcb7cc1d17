// A release and an acquire of block scope are used between two blocks.
// launch: grid=2 block=1
// arg: buf:i32[1]=0
// arg: buf:i32[1]=0
// arg: buf:i32[1]
// expect: 2[0] = 6
#include <cuda/atomic>
template <cuda::thread_scope Scope>
__device__ void publish(int* flag) {
    cuda::atomic_ref<int, Scope>(*flag).store(1, cuda::memory_order_release); // OTHER
}
template <cuda::thread_scope Scope>
__device__ void await(int* flag) {
    while (cuda::atomic_ref<int, Scope>(*flag).load(cuda::memory_order_acquire) == 0) { } // FAULT: data_race
}

extern "C" __global__ void defect(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 6; // OTHER
        publish<cuda::thread_scope_block>(flag);
    } else {
        await<cuda::thread_scope_block>(flag);
        *out = *data; // FAULT: data_race
    }
}

extern "C" __global__ void fixed(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 6;
        publish<cuda::thread_scope_device>(flag);
    } else {
        await<cuda::thread_scope_device>(flag);
        *out = *data;
    }
}
