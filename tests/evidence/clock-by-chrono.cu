// The global timer through the standard library, in a template with a callback.
// candidate: clocks
// toolkit: inline_assembly
#include <cuda/std/chrono>

template <class Function> __device__ void each(int count, Function function) {
    for (int at = 0; at < count; ++at) function(at);
}

extern "C" __global__ void k(long long *out) {
    each(2, [=](int at) {
        out[at] = cuda::std::chrono::high_resolution_clock::now().time_since_epoch().count();
    });
}
