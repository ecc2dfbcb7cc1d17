// A wait with a time limit tells the time.
// candidate: clocks
// toolkit: inline_assembly
#include <cuda/semaphore>
#include <cuda/std/chrono>

extern "C" __global__ void k(int *out, cuda::binary_semaphore<cuda::thread_scope_device> *never) {
    out[0] = never->try_acquire_for(cuda::std::chrono::nanoseconds(500));
}
