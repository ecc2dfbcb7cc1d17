/*@ lightbench(
    title: "A barrier inside of the block, fences between blocks",
    scratch: [
        (name: "partial", dtype: u32, shape: ["ceil_div(n, 65536)"], init: undefined),
        (name: "arrived", dtype: u32, shape: ["1"], init: undefined),
    ],
    steps: [
        fill(buffer: "arrived", value: 0),
        launch(kernel: "total_of", args: ["x", "total", "n: i64", "partial", "arrived"],
               grid: ["ceil_div(n, 65536)"], block: [256]),
    ],
) @*/

// lesson: locked, each warp adds its share of 65,536 elements
constexpr int per_block = 65536;

__global__ void total_of(const int* __restrict__ x, int* __restrict__ total, long long n, unsigned* partial,
                         unsigned* arrived) {
    __shared__ unsigned part[8];
    const int t = threadIdx.x;
    const long long end = min(n, (blockIdx.x + 1LL) * per_block);
    unsigned sum = 0;
    for (long long i = blockIdx.x * static_cast<long long>(per_block) + t; i < end; i += 256) {
        sum += x[i];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffffu, sum, distance);
    }
// lesson: open
    if (t % 32 == 0) {
        part[t / 32] = sum;
    }
    // Every warp has stored its sum before the first one reads them.
    __syncthreads();
    if (t == 0) {
        unsigned all = 0;
        for (int warp = 0; warp < 8; ++warp) {
            all += part[warp];
        }
        partial[blockIdx.x] = all;
        // The sum is visible to other blocks before the count is.
        __threadfence();
        if (atomicAdd(arrived, 1u) == gridDim.x - 1) {
            // The count was read before the sums are.
            __threadfence();
            unsigned result = 0;
            for (unsigned block = 0; block < gridDim.x; ++block) {
                result += partial[block];
            }
            *total = result;
        }
    }
// lesson: locked
}
