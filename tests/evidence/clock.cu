// The clock of a multiprocessor by its CUDA function.
// candidate: clocks
// toolkit: inline_assembly

extern "C" __global__ void k(long long *out) { out[0] = clock64(); }
