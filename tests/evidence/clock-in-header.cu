// A macro that puts the clock into a header's own function, which may look at one.
// candidate: clocks sleeps inline_assembly

#define microseconds(count) nanoseconds(clock64() & 1 ? 1000 * (count) : 0)
#include <cuda/atomic>
#undef microseconds

extern "C" __global__ void k(int *out, cuda::atomic<int, cuda::thread_scope_device> *flag) {
    flag->wait(0);
    out[0] = 1;
}
