// A wait without a limit looks at a clock and sleeps, and is excused.
// candidate:
// toolkit: clocks sleeps inline_assembly
#include <cuda/atomic>
#include <cuda/semaphore>

extern "C" __global__ void k(
    int *out, cuda::binary_semaphore<cuda::thread_scope_device> *door,
    cuda::atomic<int, cuda::thread_scope_device> *flag) {
    door->acquire();
    flag->wait(0);
    out[0] += 1;
    door->release();
}
