/*@ lightbench(
    title: "No atomics at all: counters of one byte for each thread, two launches",
    params: { "THREADS": [128, 64, 256], "ROUNDS": [15, 7, 3] },
    scratch: [(name: "partial", dtype: u32, shape: ["ceil_div(n, 16 * THREADS * ROUNDS)", "256"], init: undefined)],
    steps: [
        launch(kernel: "block_histograms<PARAM_THREADS, PARAM_ROUNDS>", args: ["x", "partial", "n"],
               grid: ["ceil_div(n, 16 * THREADS * ROUNDS)"], block: ["THREADS"], shared: "256 * THREADS"),
        launch(kernel: "sum_histograms", args: ["partial", "counts", "ceil_div(n, 16 * THREADS * ROUNDS): i32"],
               grid: [256], block: [128]),
    ],
) @*/

// Against `warp-private`: contention cannot hurt, because nobody shares anything. 256 counters for every thread fit
// into shared memory only if they are bytes, and a byte counts to 255: so a thread stops after ROUNDS vectors of 16,
// at most 240 bytes, and the block writes down what it has. The picture at night is now as fast as the one by day.
//
// The counters of value v are a row of THREADS bytes, one for each thread; four threads share a word, and different
// bytes of a word may be written by different threads.

template <int THREADS, int ROUNDS>
__global__ void __launch_bounds__(THREADS)
block_histograms(const unsigned char* __restrict__ x, unsigned int* __restrict__ partial, long long n) {
    static_assert(16 * ROUNDS <= 255, "a counter is one byte");
    extern __shared__ unsigned int words[];
    unsigned char* counters = reinterpret_cast<unsigned char*>(words);
    for (int word = threadIdx.x; word < 64 * THREADS; word += THREADS) {
        words[word] = 0;
    }
    __syncthreads();

    const long long vectors = n / 16;
    const long long first = static_cast<long long>(blockIdx.x) * (THREADS * ROUNDS) + threadIdx.x;
    for (int round = 0; round < ROUNDS; ++round) {
        const long long index = first + round * THREADS;
        if (index < vectors) {
            const uint4 bytes = reinterpret_cast<const uint4*>(x)[index];
            const unsigned int four[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
            for (int word = 0; word < 4; ++word) {
#pragma unroll
                for (int shift = 0; shift < 32; shift += 8) {
                    ++counters[(four[word] >> shift & 255u) * THREADS + threadIdx.x];
                }
            }
        } else if (index == vectors) {
            // The vector that n cuts short: at most one thread of the grid.
            for (long long last = 16 * vectors; last < n; ++last) {
                ++counters[x[last] * THREADS + threadIdx.x];
            }
        }
    }
    __syncthreads();

    // A thread adds up whole rows of counters, four at a time: bytes of a word two by two into halves, so that no
    // sum overflows into its neighbour.
    for (int value = threadIdx.x; value < 256; value += THREADS) {
        unsigned int even = 0;
        unsigned int odd = 0;
        for (int word = 0; word < THREADS / 4; ++word) {
            // Each thread begins elsewhere in its row: rows are a multiple of 32 words long.
            const unsigned int four = words[value * (THREADS / 4) + (word + threadIdx.x) % (THREADS / 4)];
            even += four & 0x00ff00ffu;
            odd += four >> 8 & 0x00ff00ffu;
        }
        const unsigned int both = (even & 0xffffu) + (even >> 16) + (odd & 0xffffu) + (odd >> 16);
        partial[blockIdx.x * 256LL + value] = both;
    }
}

__global__ void __launch_bounds__(128)
sum_histograms(const unsigned int* __restrict__ partial, unsigned int* __restrict__ counts, int blocks) {
    __shared__ unsigned int warp_sums[4];
    unsigned int sum = 0;
    for (int block = threadIdx.x; block < blocks; block += 128) {
        sum += partial[block * 256LL + blockIdx.x];
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (threadIdx.x % 32 == 0) {
        warp_sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = warp_sums[0] + warp_sums[1] + warp_sums[2] + warp_sums[3];
    }
}
