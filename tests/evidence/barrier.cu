// A block's barrier, and a reduction by the toolkit.
// candidate:
// toolkit: inline_assembly
#include <cub/block/block_reduce.cuh>
#include <cuda/barrier>

extern "C" __global__ void k(float *out) {
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ Reduce::TempStorage storage;
    __shared__ cuda::barrier<cuda::thread_scope_block> arrived;
    if (threadIdx.x == 0) init(&arrived, blockDim.x);
    __syncthreads();
    arrived.arrive_and_wait();
    float sum = Reduce(storage).Sum(out[threadIdx.x]);
    if (threadIdx.x == 0) out[0] = sum;
}
