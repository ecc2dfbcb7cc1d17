/*@ lightbench(
    title: "Three launches: tile sums, their scan, the tiles again",
    params: { "BLOCK": [256, 128, 512] },
    scratch: [(name: "tile_sums", dtype: u32, shape: ["ceil_div(n, 8 * BLOCK)"], init: undefined)],
    steps: [
        launch(kernel: "sum_tiles<PARAM_BLOCK>", args: ["x", "tile_sums", "n"], grid: ["ceil_div(n, 8 * BLOCK)"],
               block: ["BLOCK"]),
        launch(kernel: "scan_sums<PARAM_BLOCK>", args: ["tile_sums", "ceil_div(n, 8 * BLOCK): i32"], grid: [1],
               block: ["BLOCK"]),
        launch(kernel: "scan_tiles<PARAM_BLOCK>", args: ["x", "y", "tile_sums", "n"], grid: ["ceil_div(n, 8 * BLOCK)"],
               block: ["BLOCK"]),
    ],
) @*/

// Against `naive`: all multiprocessors work. The end of a launch is the one point at which all blocks wait for each
// other, so: add up each tile; scan the tile sums (a block walks over them, there are few); scan each tile on top of
// what comes before it. x is read twice and y written once: three streams where two would do.
//
// In a tile, a thread takes eight neighbours as two 16-byte vectors, and the sums cross the warp by shuffles.

constexpr int elements_per_thread = 8;

// The sum of this lane and all lanes before it.
__device__ unsigned int warp_scan(unsigned int value) {
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        const unsigned int before = __shfl_up_sync(0xffffffffu, value, distance);
        if (threadIdx.x % 32 >= distance) {
            value += before;
        }
    }
    return value;
}

// The sum of all threads before this one; `total` is that of the whole block. A barrier must stand between two calls.
template <int BLOCK>
__device__ unsigned int block_scan_exclusive(unsigned int value, unsigned int& total) {
    __shared__ unsigned int warp_sums[BLOCK / 32];
    const unsigned int inclusive = warp_scan(value);
    if (threadIdx.x % 32 == 31) {
        warp_sums[threadIdx.x / 32] = inclusive;
    }
    __syncthreads();
    unsigned int before = 0;
    total = 0;
#pragma unroll
    for (int warp = 0; warp < BLOCK / 32; ++warp) {
        before += warp < threadIdx.x / 32 ? warp_sums[warp] : 0u;
        total += warp_sums[warp];
    }
    return before + inclusive - value;
}

// Eight neighbours for each thread; zeros behind the end.
__device__ void load(const int* __restrict__ x, long long first, long long n,
                     unsigned int (&values)[elements_per_thread]) {
    if (first + elements_per_thread <= n) {
#pragma unroll
        for (int half = 0; half < elements_per_thread; half += 4) {
            const int4 vector = *reinterpret_cast<const int4*>(x + first + half);
            values[half] = vector.x;
            values[half + 1] = vector.y;
            values[half + 2] = vector.z;
            values[half + 3] = vector.w;
        }
        return;
    }
#pragma unroll
    for (int index = 0; index < elements_per_thread; ++index) {
        values[index] = first + index < n ? static_cast<unsigned int>(x[first + index]) : 0u;
    }
}

__device__ unsigned int sum_of(const unsigned int (&values)[elements_per_thread]) {
    unsigned int sum = 0;
#pragma unroll
    for (int index = 0; index < elements_per_thread; ++index) {
        sum += values[index];
    }
    return sum;
}

// Writes the running sums of the eight, on top of what came before them.
__device__ void store(int* __restrict__ y, long long first, long long n, unsigned int sum,
                      const unsigned int (&values)[elements_per_thread]) {
    int sums[elements_per_thread];
#pragma unroll
    for (int index = 0; index < elements_per_thread; ++index) {
        sum += values[index];
        sums[index] = static_cast<int>(sum);
    }
    if (first + elements_per_thread <= n) {
#pragma unroll
        for (int half = 0; half < elements_per_thread; half += 4) {
            *reinterpret_cast<int4*>(y + first + half) =
                make_int4(sums[half], sums[half + 1], sums[half + 2], sums[half + 3]);
        }
        return;
    }
#pragma unroll
    for (int index = 0; index < elements_per_thread; ++index) {
        if (first + index < n) {
            y[first + index] = sums[index];
        }
    }
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
sum_tiles(const int* __restrict__ x, unsigned int* __restrict__ tile_sums, long long n) {
    unsigned int values[elements_per_thread];
    load(x, (static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x) * elements_per_thread, n, values);
    unsigned int total;
    block_scan_exclusive<BLOCK>(sum_of(values), total);
    if (threadIdx.x == 0) {
        tile_sums[blockIdx.x] = total;
    }
}

// Each tile sum becomes the sum of all tiles before it.
template <int BLOCK>
__global__ void __launch_bounds__(BLOCK) scan_sums(unsigned int* __restrict__ tile_sums, int tiles) {
    unsigned int carry = 0;
    for (int first = 0; first < tiles; first += BLOCK) {
        const int tile = first + threadIdx.x;
        const unsigned int value = tile < tiles ? tile_sums[tile] : 0u;
        unsigned int total;
        const unsigned int before = block_scan_exclusive<BLOCK>(value, total);
        if (tile < tiles) {
            tile_sums[tile] = carry + before;
        }
        carry += total;
        __syncthreads();
    }
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
scan_tiles(const int* __restrict__ x, int* __restrict__ y, const unsigned int* __restrict__ tile_sums, long long n) {
    const long long first = (static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x) * elements_per_thread;
    unsigned int values[elements_per_thread];
    load(x, first, n, values);
    unsigned int total;
    const unsigned int before = block_scan_exclusive<BLOCK>(sum_of(values), total);
    store(y, first, n, tile_sums[blockIdx.x] + before, values);
}
