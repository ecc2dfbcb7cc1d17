// Hints that keep nothing in a cache.
// candidate:
// toolkit: inline_assembly

extern "C" __global__ void k(float *out, const float *in) {
    __stcs(out + threadIdx.x, __ldcs(in + threadIdx.x) + __ldg(in));
}
