/*@ lightbench(
    title: "A barrier, and no fence",
    expect: fault(data_race),
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

// The mistake: the atomic counts the blocks, but does not order the store of the sum before it.
// How it shows: the virtual GPU reports the data race. On a GPU the result is almost always right.

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
        if (atomicAdd(arrived, 1u) == gridDim.x - 1) {
            unsigned result = 0;
            for (unsigned block = 0; block < gridDim.x; ++block) {
                result += partial[block];
            }
            *total = result;
        }
    }
}
