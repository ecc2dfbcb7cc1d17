// Lines that should stay in the L2 cache, asked of a header.
// candidate: cache_persistence
// toolkit: inline_assembly
#include <cuda/annotated_ptr>

extern "C" __global__ void k(float *out, const float *in) {
    cuda::annotated_ptr<const float, cuda::access_property::persisting> kept(in);
    out[threadIdx.x] = kept[threadIdx.x];
}
