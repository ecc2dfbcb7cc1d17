/*@ lightbench(
    title: "One pass: the row stays in registers",
    params: { "BLOCK": [256, 512, 1024, 128, 64, 32] },
    require: ["cols <= 32 * BLOCK", "BLOCK <= max(32, cols // 8)"],
    constants: ["cols"],
    steps: [
        launch(kernel: "rmsnorm<PARAM_BLOCK>", args: ["x", "w", "y", "eps"], grid: ["rows"], block: ["BLOCK"]),
    ],
) @*/

// Against `vector16`: x is read once. The width is a constant of the compilation, so the loop over a
// row has a known length, unrolls, and its vectors live in registers from the sum to the store. All
// loads of a row are in flight before the first addition, which is what keeps DRAM busy.
//
// The price is one compilation per width, and a limit: four vectors (32 elements) a thread. With eight, a
// thread of a block of 1,024 needs more than the 64 registers that it can have, and spills.

#include <cuda_bf16.h>

constexpr int elements_per_vector = 8;
constexpr int vectors_per_row = axis::cols / elements_per_vector;

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

__device__ float sum_of_squares_of(Bf16x8 vector) {
    float sum = 0.0f;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        const float2 values = unpacked(vector.pairs[pair]);
        sum += values.x * values.x;
        sum += values.y * values.y;
    }
    return sum;
}

__device__ Bf16x8 scaled(Bf16x8 vector, float scale, Bf16x8 weights) {
    Bf16x8 result;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        const float2 values = unpacked(vector.pairs[pair]);
        const float2 weight = unpacked(weights.pairs[pair]);
        result.pairs[pair] = packed(values.x * scale * weight.x, values.y * scale * weight.y);
    }
    return result;
}

__device__ float warp_sum(float value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, distance);
    }
    return value;
}

template <int BLOCK>
__device__ float block_sum(float value) {
    value = warp_sum(value);
    if constexpr (BLOCK > 32) {
        __shared__ float partial[BLOCK / 32];
        if (threadIdx.x % 32 == 0) {
            partial[threadIdx.x / 32] = value;
        }
        __syncthreads();
        value = 0.0f;
#pragma unroll
        for (int warp = 0; warp < BLOCK / 32; ++warp) {
            value += partial[warp];
        }
    }
    return value;
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y,
        float eps) {
    constexpr int vectors_per_thread = (vectors_per_row + BLOCK - 1) / BLOCK;
    // Only the last round of a row can be partial, and only where BLOCK does not divide it: elsewhere
    // `inside` is true at compile time and the comparison disappears.
    const auto inside = [](int round, int vector) {
        return (round + 1) * BLOCK <= vectors_per_row || vector < vectors_per_row;
    };
    const Bf16x8* x_row = reinterpret_cast<const Bf16x8*>(x + blockIdx.x * axis::cols);
    const Bf16x8* w_row = reinterpret_cast<const Bf16x8*>(w);
    Bf16x8* y_row = reinterpret_cast<Bf16x8*>(y + blockIdx.x * axis::cols);

    Bf16x8 values[vectors_per_thread];
#pragma unroll
    for (int round = 0; round < vectors_per_thread; ++round) {
        const int vector = round * BLOCK + threadIdx.x;
        if (inside(round, vector)) {
            values[round] = x_row[vector];
        }
    }

    float sum_of_squares = 0.0f;
#pragma unroll
    for (int round = 0; round < vectors_per_thread; ++round) {
        if (inside(round, round * BLOCK + threadIdx.x)) {
            sum_of_squares += sum_of_squares_of(values[round]);
        }
    }
    const float scale = rsqrtf(block_sum<BLOCK>(sum_of_squares) / static_cast<float>(axis::cols) + eps);

#pragma unroll
    for (int round = 0; round < vectors_per_thread; ++round) {
        const int vector = round * BLOCK + threadIdx.x;
        if (inside(round, vector)) {
            y_row[vector] = scaled(values[round], scale, w_row[vector]);
        }
    }
}
