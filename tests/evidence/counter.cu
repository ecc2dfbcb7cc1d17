// A counter that outlives the launch, incremented through a toolkit function.
// candidate: device_globals
// toolkit: inline_assembly
#include <cuda/atomic>

__device__ int launches;

extern "C" __global__ void k(float *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> seen(launches);
    if (seen.fetch_add(1) == 0) out[threadIdx.x] = 1.0f;
}
