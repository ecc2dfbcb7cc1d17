/*@ lightbench(
    title: "One pass with decoupled look-back",
    params: { "BLOCK": [256, 128, 512] },
    scratch: [
        (name: "tickets", dtype: u32, shape: ["1"], init: zero_each_launch),
        (name: "states", dtype: u64, shape: ["ceil_div(n, 8 * BLOCK)"], init: zero_each_launch),
    ],
    steps: [
        launch(kernel: "scan<PARAM_BLOCK>", args: ["x", "y", "tickets", "states", "n"],
               grid: ["ceil_div(n, 8 * BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

// Against `cooperative`: x is read once and y written once, at the speed of a copy (Merrill and Garland, 'Single-pass
// parallel prefix scan with decoupled look-back', 2016). A block publishes the sum of its tile as soon as it has it,
// looks back over the tiles before it until it meets one that knows its whole prefix, and publishes its own.
//
// Blocks wait for blocks with smaller tickets. A ticket is drawn when a block has started, so those it waits for have
// started too, whatever order the hardware starts blocks in: no cooperative launch is needed. blockIdx.x would
// promise nothing.
//
// State and sum travel in one 64-bit word, so that nobody can see the one without the other, and no fence is needed:
// the word is all that is handed on.

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

using State = unsigned long long;
constexpr State has_sum = 1ull << 32;     // the low half is the sum of the tile
constexpr State has_prefix = 2ull << 32;  // the low half is the sum of all tiles up to this one

__device__ void publish(State* state, State flag, unsigned int sum) { atomicExch(state, flag | sum); }

// The sum of all tiles before this one. The first warp looks at 32 tiles at a time: the sums behind the nearest prefix
// are all that counts, and if there is none, the 32 tiles before those come next.
__device__ unsigned int look_back(State* states, int tile) {
    const int lane = threadIdx.x % 32;
    unsigned int before = 0;
    for (int nearest = tile - 1; nearest >= 0; nearest -= 32) {
        const int other = nearest - lane;
        State state = has_prefix;  // in front of the first tile: nothing
        if (other >= 0) {
            do {
                state = *reinterpret_cast<volatile State*>(states + other);
            } while (state == 0);
        }
        __syncwarp();
        const unsigned int prefixes = __ballot_sync(0xffffffffu, (state & has_prefix) != 0);
        const int last = prefixes != 0 ? __ffs(prefixes) - 1 : 31;
        unsigned int sum = lane <= last ? static_cast<unsigned int>(state) : 0u;
#pragma unroll
        for (int distance = 16; distance > 0; distance /= 2) {
            sum += __shfl_xor_sync(0xffffffffu, sum, distance);
        }
        before += sum;
        if (prefixes != 0) {
            break;
        }
    }
    return before;
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
scan(const int* __restrict__ x, int* __restrict__ y, unsigned int* tickets, State* states, long long n) {
    __shared__ int ticket;
    __shared__ unsigned int tiles_before;
    if (threadIdx.x == 0) {
        ticket = static_cast<int>(atomicAdd(tickets, 1u));
    }
    __syncthreads();
    const int tile = ticket;
    const long long first = (static_cast<long long>(tile) * BLOCK + threadIdx.x) * elements_per_thread;

    unsigned int values[elements_per_thread];
    load(x, first, n, values);
    unsigned int total;
    const unsigned int before = block_scan_exclusive<BLOCK>(sum_of(values), total);
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) {
            publish(states + tile, tile == 0 ? has_prefix : has_sum, total);
        }
        const unsigned int sum = look_back(states, tile);
        if (threadIdx.x == 0) {
            tiles_before = sum;
            if (tile > 0) {
                publish(states + tile, has_prefix, sum + total);
            }
        }
    }
    __syncthreads();
    store(y, first, n, tiles_before + before, values);
}
