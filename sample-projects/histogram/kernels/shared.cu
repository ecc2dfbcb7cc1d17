/*@ lightbench(
    title: "A histogram of its own for each block, in shared memory",
    params: { "BLOCK": [256, 512, 1024], "BLOCKS_PER_SM": [8, 4, 2, 1] },
    require: ["BLOCK * BLOCKS_PER_SM <= 2048"],
    steps: [
        fill(buffer: "counts", value: 0),
        launch(kernel: "histogram<PARAM_BLOCK>", grid: ["min(ceil_div(n, 4 * BLOCK), BLOCKS_PER_SM * device.sms)"],
               block: ["BLOCK"]),
    ],
) @*/

// Against `naive`: a block counts in its own shared memory, where atomics are near and only its own threads
// compete, and adds 256 counts to the global ones at the end. The two barriers separate the three phases.

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
histogram(const unsigned char* __restrict__ x, unsigned int* __restrict__ counts, long long n) {
    __shared__ unsigned int block_counts[256];
    for (int value = threadIdx.x; value < 256; value += BLOCK) {
        block_counts[value] = 0;
    }
    __syncthreads();
    const long long stride = static_cast<long long>(gridDim.x) * BLOCK;
    for (long long index = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; index < n; index += stride) {
        atomicAdd(&block_counts[x[index]], 1u);
    }
    __syncthreads();
    for (int value = threadIdx.x; value < 256; value += BLOCK) {
        if (block_counts[value] != 0) {
            atomicAdd(&counts[value], block_counts[value]);
        }
    }
}
