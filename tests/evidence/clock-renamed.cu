// The clock on a line that claims to be a header's which may read it.
// candidate: clocks inline_assembly

extern "C" __global__ void k(long long *out) {
#line 58 "/cache/include/cccl/cuda/std/__atomic/wait/polling.h"
    out[0] = clock64();
}
