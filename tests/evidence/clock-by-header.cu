// The clock through a header of the toolkit's, which only passes it on.
// candidate: clocks
// toolkit: inline_assembly
#include <cuda/ptx>

extern "C" __global__ void k(unsigned long long *out) { out[0] = cuda::ptx::get_sreg_clock64(); }
