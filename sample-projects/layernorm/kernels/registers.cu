/*@ lightbench(
    title: "One pass: the row stays in registers, 16-byte accesses where rows are aligned",
    params: { "THREADS": [256, 128, 32, 512, 64], "ROWS": [4, 1, 2, 8] },
    require: [
        "cols <= 32 * THREADS",
        "THREADS == 32 or 4 * THREADS <= cols",
        "THREADS == 32 or ROWS == 1",
    ],
    constants: ["cols"],
    steps: [
        launch(kernel: "layernorm<PARAM_THREADS, PARAM_ROWS>", args: ["x", "gamma", "beta", "y", "rows", "eps"],
               grid: ["ceil_div(rows, ROWS)"], block: ["THREADS", "ROWS"]),
    ],
) @*/

// Against `welford`: x is read once. The row lives in registers, at most 32 elements a thread, so the second pass
// over it costs nothing, and the plain two-pass variance is both simpler and as exact as Welford's, without a
// division for each element.
//
// Where the width is a multiple of four, rows begin at multiples of 16 bytes and move as float4; elsewhere the same
// code is compiled with one element per access. Short rows get a warp each, ROWS of them to a block.

constexpr int elements_per_access = axis::cols % 4 == 0 ? 4 : 1;
constexpr int accesses_per_row = axis::cols / elements_per_access;

struct __align__(4 * elements_per_access) Chunk {
    float elements[elements_per_access];
};

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

// The array is the caller's: with one for both sums, a fast warp would store its second over a first that a slow
// warp has yet to read.
template <int THREADS>
__device__ float row_sum(float value, float* partial) {
    value = warp_sum(value);
    if constexpr (THREADS > 32) {
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
layernorm(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
          float* __restrict__ y, long long rows, float eps) {
    constexpr int accesses = (accesses_per_row + THREADS - 1) / THREADS;
    constexpr float reciprocal = 1.0f / axis::cols;
    __shared__ float sums[THREADS / 32];
    __shared__ float squares[THREADS / 32];
    // Only the last round of a row can be partial; elsewhere `inside` is true at compile time.
    const auto inside = [](int round) {
        return (round + 1) * THREADS <= accesses_per_row || round * THREADS + threadIdx.x < accesses_per_row;
    };
    const long long row = static_cast<long long>(blockIdx.x) * ROWS + threadIdx.y;
    if (row >= rows) {
        return;  // only where ROWS > 1, and then a row is a warp: nobody waits for it
    }
    const Chunk* x_row = reinterpret_cast<const Chunk*>(x + row * axis::cols);
    Chunk* y_row = reinterpret_cast<Chunk*>(y + row * axis::cols);

    Chunk values[accesses];
    float sum = 0.0f;
#pragma unroll
    for (int round = 0; round < accesses; ++round) {
        if (inside(round)) {
            values[round] = x_row[round * THREADS + threadIdx.x];
        }
    }
#pragma unroll
    for (int round = 0; round < accesses; ++round) {
        if (inside(round)) {
#pragma unroll
            for (int element = 0; element < elements_per_access; ++element) {
                sum += values[round].elements[element];
            }
        }
    }
    const float mean = row_sum<THREADS>(sum, sums) * reciprocal;

    float sum_of_squares = 0.0f;
#pragma unroll
    for (int round = 0; round < accesses; ++round) {
        if (inside(round)) {
#pragma unroll
            for (int element = 0; element < elements_per_access; ++element) {
                values[round].elements[element] -= mean;
                sum_of_squares += values[round].elements[element] * values[round].elements[element];
            }
        }
    }
    const float scale = rsqrtf(row_sum<THREADS>(sum_of_squares, squares) * reciprocal + eps);

#pragma unroll
    for (int round = 0; round < accesses; ++round) {
        const int access = round * THREADS + threadIdx.x;
        if (inside(round)) {
            const Chunk weights = reinterpret_cast<const Chunk*>(gamma)[access];
            const Chunk shifts = reinterpret_cast<const Chunk*>(beta)[access];
            Chunk result;
#pragma unroll
            for (int element = 0; element < elements_per_access; ++element) {
                result.elements[element] =
                    values[round].elements[element] * scale * weights.elements[element] + shifts.elements[element];
            }
            y_row[access] = result;
        }
    }
}
