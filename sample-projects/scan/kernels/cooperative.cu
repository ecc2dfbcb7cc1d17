/*@ lightbench(
    title: "One cooperative launch: blocks wait for each other in the middle",
    params: { "BLOCK": [256, 512, 128] },
    scratch: [(name: "block_sums", dtype: u32,
               shape: ["min(ceil_div(n, 8 * BLOCK), max_active_blocks(\"scan<PARAM_BLOCK>\"))"], init: undefined)],
    steps: [
        launch(kernel: "scan<PARAM_BLOCK>", args: ["x", "y", "block_sums", "n"],
               grid: ["min(ceil_div(n, 8 * BLOCK), max_active_blocks(\"scan<PARAM_BLOCK>\"))"], block: ["BLOCK"],
               cooperative: true),
    ],
) @*/

// Against `three-launches`: as many blocks as fit on the GPU at once, each with one long share of x. A cooperative
// launch guarantees that all of them are running, so they may wait for each other: add up the share, wait, add up what
// the blocks before have found, scan the share. Still two reads of x, but no second and third launch, and for a few
// megabytes the second read comes out of L2.

#include <cooperative_groups.h>

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
scan(const int* __restrict__ x, int* __restrict__ y, unsigned int* block_sums, long long n) {
    constexpr int tile = BLOCK * elements_per_thread;
    const long long tiles = (n + tile - 1) / tile;
    const long long begin = tiles * blockIdx.x / gridDim.x * tile;
    const long long end = min(tiles * (blockIdx.x + 1LL) / gridDim.x * tile, n);

    unsigned int mine = 0;
    for (long long first = begin; first < end; first += tile) {
        unsigned int values[elements_per_thread];
        load(x, first + threadIdx.x * elements_per_thread, end, values);
        mine += sum_of(values);
    }
    unsigned int total;
    block_scan_exclusive<BLOCK>(mine, total);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = total;
    }
    cooperative_groups::this_grid().sync();

    mine = 0;
    for (int block = threadIdx.x; block < blockIdx.x; block += BLOCK) {
        mine += block_sums[block];
    }
    unsigned int carry;
    block_scan_exclusive<BLOCK>(mine, carry);
    for (long long first = begin; first < end; first += tile) {
        __syncthreads();
        unsigned int values[elements_per_thread];
        load(x, first + threadIdx.x * elements_per_thread, end, values);
        const unsigned int before = block_scan_exclusive<BLOCK>(sum_of(values), total);
        store(y, first + threadIdx.x * elements_per_thread, end, carry + before, values);
        carry += total;
    }
}
