/*@ lightbench(
    title: "A histogram for each warp, 16 bytes per load",
    params: { "WARPS": [8, 4, 16, 32], "BLOCKS_PER_SM": [4, 8, 2, 1] },
    require: ["WARPS * BLOCKS_PER_SM <= 64"],
    steps: [
        fill(buffer: "counts", value: 0),
        launch(kernel: "histogram<PARAM_WARPS>",
               grid: ["min(ceil_div(n, 16 * 32 * WARPS), BLOCKS_PER_SM * device.sms)"], block: ["32 * WARPS"]),
    ],
) @*/

// Against `shared`: each warp has 256 counters of its own, so only 32 threads compete for them, and a load brings 16
// bytes. Each warp's counters begin one bank further on (257 words a warp): otherwise counter v of every warp
// would lie in the same bank, and adding them up at the end would wait for it.

template <int WARPS>
__global__ void __launch_bounds__(32 * WARPS)
histogram(const unsigned char* __restrict__ x, unsigned int* __restrict__ counts, long long n) {
    constexpr int block = 32 * WARPS;
    __shared__ unsigned int warp_counts[WARPS][257];
    unsigned int* mine = warp_counts[threadIdx.x / 32];
    for (int value = threadIdx.x % 32; value < 256; value += 32) {
        mine[value] = 0;
    }
    __syncwarp();

    const long long vectors = n / 16;
    const long long stride = static_cast<long long>(gridDim.x) * block;
    const long long thread = static_cast<long long>(blockIdx.x) * block + threadIdx.x;
    for (long long index = thread; index < vectors; index += stride) {
        const uint4 bytes = reinterpret_cast<const uint4*>(x)[index];
        const unsigned int words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
        for (int word = 0; word < 4; ++word) {
#pragma unroll
            for (int shift = 0; shift < 32; shift += 8) {
                atomicAdd(&mine[words[word] >> shift & 255u], 1u);
            }
        }
    }
    if (thread < n % 16) {
        atomicAdd(&mine[x[16 * vectors + thread]], 1u);
    }
    __syncthreads();

    for (int value = threadIdx.x; value < 256; value += block) {
        unsigned int count = 0;
#pragma unroll
        for (int warp = 0; warp < WARPS; ++warp) {
            count += warp_counts[warp][value];
        }
        if (count != 0) {
            atomicAdd(&counts[value], count);
        }
    }
}
