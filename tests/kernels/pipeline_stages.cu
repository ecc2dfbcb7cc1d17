// arch: 80
// cuda::pipeline with two stages over a block: sums of batches while the next batch is copied; and memcpy_async of a
// cooperative group that a cuda::barrier waits for.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

extern "C" __global__ void pipeline_stages(const float4* in, float* out, int batches) {
    constexpr int kStages = 2;
    __shared__ __align__(16) float4 buffer[kStages][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
    auto block = cg::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    float sum = 0.0f;
    for (int compute = 0, fetch = 0; compute < batches; ++compute) {
        for (; fetch < batches && fetch < compute + kStages; ++fetch) {
            pipeline.producer_acquire();
            cuda::memcpy_async(block, buffer[fetch % kStages], in + fetch * 64, cuda::aligned_size_t<16>(sizeof(float4) * 64), pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        float4 v = buffer[compute % kStages][63 - block.thread_rank()];
        sum += v.x + v.y + v.z + v.w;
        pipeline.consumer_release();
    }
    out[block.thread_rank()] = sum;
}

extern "C" __global__ void barrier_copy(const int* in, int* out, int n) {
    extern __shared__ __align__(16) int staging[];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    auto block = cg::this_thread_block();
    if (block.thread_rank() == 0) init(&bar, block.size());
    block.sync();
    cuda::memcpy_async(block, staging, in + blockIdx.x * n, sizeof(int) * n, bar);
    bar.arrive_and_wait();
    for (int i = block.thread_rank(); i < n; i += block.size()) out[blockIdx.x * n + i] = staging[n - 1 - i];
}
