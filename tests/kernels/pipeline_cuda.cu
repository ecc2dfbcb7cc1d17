// arch: 80
// cuda::pipeline and memcpy_async: two stages in flight, each copied by the whole block.
#include <cooperative_groups.h>
#include <cuda/pipeline>
extern "C" __global__ void pipeline_cuda(const int* x, int* y, int tiles) {
    auto block = cooperative_groups::this_thread_block();
    __shared__ __align__(16) int s[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    for (int fetch = 0, tile = 0; tile < tiles; tile++) {
        for (; fetch < tiles && fetch < tile + 2; fetch++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[fetch % 2], x + fetch * 64, cuda::aligned_size_t<16>(256), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        y[tile * 64 + threadIdx.x] = s[tile % 2][63 - threadIdx.x];
        pipe.consumer_release();
    }
}
