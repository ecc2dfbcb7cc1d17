// A constructor in memory that is there already.
// candidate:
#include <cuda/std/array>

extern "C" __global__ void k(float *out) {
    auto *values = new (out) cuda::std::array<float, 2>{1.0f, 2.0f};
    out[2] = (*values)[1];
}
