// The clock in assembly, its lines made to look like a header that may read it.
// candidate: clocks inline_assembly
#include <cuda/atomic>

extern "C" __global__ void k(unsigned *out, cuda::atomic<int, cuda::thread_scope_device> *flag) {
    unsigned now;
#line 58 "/cache/include/cccl/cuda/std/__atomic/wait/polling.h"
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
    out[0] = now;
}
