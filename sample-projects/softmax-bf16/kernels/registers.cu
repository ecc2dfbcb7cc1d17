/*@ lightbench(
    title: "One pass: the row stays in registers",
    params: { "THREADS": [256, 512, 1024, 128, 64, 32], "ROWS": [8, 1, 4, 2] },
    require: [
        "cols <= 32 * THREADS",
        "THREADS == 32 or 8 * THREADS <= cols",
        "THREADS == 32 or ROWS == 1",
    ],
    constants: ["cols"],
    steps: [
        launch(kernel: "softmax<PARAM_THREADS, PARAM_ROWS>", args: ["x", "y", "rows"],
               grid: ["ceil_div(rows, ROWS)"], block: ["THREADS", "ROWS"]),
    ],
) @*/

// Against `online-vector16`: x is read once. THREADS threads hold a whole row in registers, at most 32
// elements (four vectors) each, unpacked to f32, so that each exponential is computed once and kept. All
// loads of a row are in flight before the first comparison.
//
// Short rows (a router's 128 experts) are given one warp each, ROWS of them to a block: then nothing
// needs shared memory or a barrier. Long rows have a block each.

#include <cuda_bf16.h>

constexpr int elements_per_vector = 8;
constexpr int vectors_per_row = axis::cols / elements_per_vector;
constexpr float lowest_float = -3.402823466e+38f;

// Eight bf16 as the 16 bytes that one load or store moves. The pairs are plain integers, and functions take the
// struct by value, on purpose: a struct of __nv_bfloat162, or a reference into global memory, is read member
// by member, which compiles to four 4-byte loads.
struct __align__(16) Bf16x8 {
    unsigned int pairs[4];
};

// A bf16 is the upper half of the f32 with the same value.
__device__ float2 unpacked(unsigned int pair) {
    return make_float2(__uint_as_float(pair << 16), __uint_as_float(pair & 0xffff0000u));
}

__device__ unsigned int packed(float low, float high) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const unsigned int*>(&pair);
}

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
softmax(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, long long rows) {
    constexpr int vectors_per_thread = (vectors_per_row + THREADS - 1) / THREADS;
    // Only the last round of a row can be partial; elsewhere `inside` is true at compile time.
    const auto inside = [](int round, int vector) {
        return (round + 1) * THREADS <= vectors_per_row || vector < vectors_per_row;
    };
    const long long row = static_cast<long long>(blockIdx.x) * ROWS + threadIdx.y;
    if (row >= rows) {
        return;  // only where ROWS > 1, and then a row is a warp: nobody waits for it
    }
    const Bf16x8* x_row = reinterpret_cast<const Bf16x8*>(x + row * axis::cols);
    Bf16x8* y_row = reinterpret_cast<Bf16x8*>(y + row * axis::cols);

    // All loads first, still packed; then unpack.
    Bf16x8 input[vectors_per_thread];
#pragma unroll
    for (int round = 0; round < vectors_per_thread; ++round) {
        const int vector = round * THREADS + threadIdx.x;
        if (inside(round, vector)) {
            input[round] = x_row[vector];
        }
    }
    float2 values[vectors_per_thread][4];
    float max = lowest_float;
#pragma unroll
    for (int round = 0; round < vectors_per_thread; ++round) {
        if (inside(round, round * THREADS + threadIdx.x)) {
#pragma unroll
            for (int pair = 0; pair < 4; ++pair) {
                values[round][pair] = unpacked(input[round].pairs[pair]);
                max = fmaxf(max, fmaxf(values[round][pair].x, values[round][pair].y));
            }
        }
    }
    max = row_max_of<THREADS>(max);

    float sum = 0.0f;
#pragma unroll
    for (int round = 0; round < vectors_per_thread; ++round) {
        if (inside(round, round * THREADS + threadIdx.x)) {
#pragma unroll
            for (int pair = 0; pair < 4; ++pair) {
                float2& value = values[round][pair];
                value = make_float2(__expf(value.x - max), __expf(value.y - max));
                sum += value.x + value.y;
            }
        }
    }
    const float reciprocal = 1.0f / row_sum_of<THREADS>(sum);

#pragma unroll
    for (int round = 0; round < vectors_per_thread; ++round) {
        const int vector = round * THREADS + threadIdx.x;
        if (inside(round, vector)) {
            Bf16x8 result;
#pragma unroll
            for (int pair = 0; pair < 4; ++pair) {
                const float2 value = values[round][pair];
                result.pairs[pair] = packed(value.x * reciprocal, value.y * reciprocal);
            }
            y_row[vector] = result;
        }
    }
}
