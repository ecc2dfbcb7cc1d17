/*@ lightbench(
    title: "One pass: the row stays in registers, 16-byte accesses where rows are aligned",
    params: { "THREADS": [256, 128, 32, 512, 1024, 64], "ROWS": [4, 1, 2, 8] },
    require: [
        "cols <= 32 * THREADS",
        "THREADS == 32 or 4 * THREADS <= cols",
        "THREADS == 32 or ROWS == 1",
    ],
    constants: ["cols"],
    steps: [
        launch(kernel: "softmax<PARAM_THREADS, PARAM_ROWS>", args: ["x", "y", "rows"],
               grid: ["ceil_div(rows, ROWS)"], block: ["THREADS", "ROWS"]),
    ],
) @*/

// Against `online`: x is read once. THREADS threads hold a whole row in registers, at most 32 elements
// each, so maximum, sum and result all work on what is already there, and the trick of `online` is not
// needed. The exponentials are computed once and kept.
//
// Where the width is a multiple of four, every row begins at a multiple of 16 bytes and is moved as
// float4; elsewhere (197!) the same code is compiled with one element per access. Short rows are given
// one warp each, ROWS of them to a block; long rows a block each.

constexpr float lowest_float = -3.402823466e+38f;
constexpr int elements_per_access = axis::cols % 4 == 0 ? 4 : 1;
constexpr int accesses_per_row = axis::cols / elements_per_access;

struct __align__(4 * elements_per_access) Chunk {
    float elements[elements_per_access];
};

__device__ float warp_max(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
    }
    return value;
}

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

// Maximum and sum have an array each: with one for both, a fast warp would store its sum over a maximum
// that a slow warp has yet to read.
template <int THREADS>
__device__ float row_max_of(float value) {
    value = warp_max(value);
    if constexpr (THREADS > 32) {
        __shared__ float partial[THREADS / 32];
        if (threadIdx.x % 32 == 0) {
            partial[threadIdx.x / 32] = value;
        }
        __syncthreads();
        value = partial[0];
#pragma unroll
        for (int warp = 1; warp < THREADS / 32; ++warp) {
            value = fmaxf(value, partial[warp]);
        }
    }
    return value;
}

template <int THREADS>
__device__ float row_sum_of(float value) {
    value = warp_sum(value);
    if constexpr (THREADS > 32) {
        __shared__ float partial[THREADS / 32];
        if (threadIdx.x % 32 == 0) {
            partial[threadIdx.x / 32] = value;
        }
        __syncthreads();
        value = 0.0f;
#pragma unroll
        for (int warp = 0; warp < THREADS / 32; ++warp) {
            value += partial[warp];
        }
    }
    return value;
}

template <int THREADS, int ROWS>
__global__ void __launch_bounds__(THREADS * ROWS)
softmax(const float* __restrict__ x, float* __restrict__ y, long long rows) {
    constexpr int accesses_per_thread = (accesses_per_row + THREADS - 1) / THREADS;
    // Only the last round of a row can be partial; elsewhere `inside` is true at compile time.
    const auto inside = [](int round, int access) {
        return (round + 1) * THREADS <= accesses_per_row || access < accesses_per_row;
    };
    const long long row = static_cast<long long>(blockIdx.x) * ROWS + threadIdx.y;
    if (row >= rows) {
        return;  // only where ROWS > 1, and then a row is a warp: nobody waits for it
    }
    const Chunk* x_row = reinterpret_cast<const Chunk*>(x + row * axis::cols);
    Chunk* y_row = reinterpret_cast<Chunk*>(y + row * axis::cols);

    Chunk values[accesses_per_thread];
#pragma unroll
    for (int round = 0; round < accesses_per_thread; ++round) {
        const int access = round * THREADS + threadIdx.x;
        if (inside(round, access)) {
            values[round] = x_row[access];
        } else {
#pragma unroll
            for (int element = 0; element < elements_per_access; ++element) {
                values[round].elements[element] = lowest_float;
            }
        }
    }

    float max = lowest_float;
#pragma unroll
    for (int round = 0; round < accesses_per_thread; ++round) {
#pragma unroll
        for (int element = 0; element < elements_per_access; ++element) {
            max = fmaxf(max, values[round].elements[element]);
        }
    }
    max = row_max_of<THREADS>(max);

    float sum = 0.0f;
#pragma unroll
    for (int round = 0; round < accesses_per_thread; ++round) {
        if (inside(round, round * THREADS + threadIdx.x)) {
#pragma unroll
            for (int element = 0; element < elements_per_access; ++element) {
                const float exponential = __expf(values[round].elements[element] - max);
                values[round].elements[element] = exponential;
                sum += exponential;
            }
        }
    }
    const float reciprocal = 1.0f / row_sum_of<THREADS>(sum);

#pragma unroll
    for (int round = 0; round < accesses_per_thread; ++round) {
        const int access = round * THREADS + threadIdx.x;
        if (inside(round, access)) {
            Chunk result;
#pragma unroll
            for (int element = 0; element < elements_per_access; ++element) {
                result.elements[element] = values[round].elements[element] * reciprocal;
            }
            y_row[access] = result;
        }
    }
}
