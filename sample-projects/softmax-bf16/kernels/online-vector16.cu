/*@ lightbench(
    title: "Online: two passes with 16-byte accesses, one block per row",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        launch(kernel: "softmax<PARAM_BLOCK>", grid: ["rows"], block: ["BLOCK"]),
    ],
) @*/

// Against `block-per-row`: two changes. A thread moves eight elements per access. And the maximum and the
// sum are found in the same pass: each thread keeps the sum of exponentials relative to its maximum so
// far, and scales it down when the maximum grows (Milakov and Gimelshein, 'Online normalizer calculation
// for softmax', 2018). With eight elements at a time the scaling is paid once per eight.

#include <cuda_bf16.h>

constexpr int elements_per_vector = 8;

// Instead of minus infinity: the difference of two of these is zero, not NaN.
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

struct Normalizer {
    float max;
    float sum;  // of exp(x - max)
};

// An empty normalizer has sum 0, and 0 * exp(anything up to 0) is 0: no special case.
__device__ Normalizer merged(Normalizer left, Normalizer right) {
    const float max = fmaxf(left.max, right.max);
    return {max, left.sum * __expf(left.max - max) + right.sum * __expf(right.max - max)};
}

__device__ Normalizer warp_merged(Normalizer value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const Normalizer other = {__shfl_xor_sync(0xffffffffu, value.max, distance),
                                  __shfl_xor_sync(0xffffffffu, value.sum, distance)};
        value = merged(value, other);
    }
    return value;
}

template <int BLOCK>
__device__ Normalizer block_merged(Normalizer value) {
    constexpr int warps = BLOCK / 32;
    __shared__ Normalizer partial[warps];
    const int lane = threadIdx.x % 32;
    value = warp_merged(value);
    if (lane == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    // Every warp merges the partial results again for itself: five shuffles are cheaper than a second
    // barrier. Lanes beyond the number of warps bring an empty one, not what lies behind the array.
    value = lane < warps ? partial[lane] : Normalizer{lowest_float, 0.0f};
    return warp_merged(value);
}

__device__ Normalizer extended(Normalizer normalizer, Bf16x8 vector) {
    float2 values[4];
    float max = normalizer.max;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        values[pair] = unpacked(vector.pairs[pair]);
        max = fmaxf(max, fmaxf(values[pair].x, values[pair].y));
    }
    float sum = normalizer.sum * __expf(normalizer.max - max);
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        sum += __expf(values[pair].x - max) + __expf(values[pair].y - max);
    }
    return {max, sum};
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
softmax(const __nv_bfloat16* __restrict__ x, __nv_bfloat16* __restrict__ y, long long rows, long long cols) {
    // Rows begin at multiples of 16 bytes because cols is a multiple of eight: the project says so.
    const int vectors = static_cast<int>(cols) / elements_per_vector;
    const Bf16x8* x_row = reinterpret_cast<const Bf16x8*>(x + blockIdx.x * cols);
    Bf16x8* y_row = reinterpret_cast<Bf16x8*>(y + blockIdx.x * cols);

    Normalizer mine = {lowest_float, 0.0f};
    for (int vector = threadIdx.x; vector < vectors; vector += BLOCK) {
        mine = extended(mine, x_row[vector]);
    }
    const Normalizer row = block_merged<BLOCK>(mine);
    const float reciprocal = 1.0f / row.sum;

    for (int vector = threadIdx.x; vector < vectors; vector += BLOCK) {
        const Bf16x8 input = x_row[vector];
        Bf16x8 result;
#pragma unroll
        for (int pair = 0; pair < 4; ++pair) {
            const float2 values = unpacked(input.pairs[pair]);
            result.pairs[pair] = packed(__expf(values.x - row.max) * reciprocal,
                                        __expf(values.y - row.max) * reciprocal);
        }
        y_row[vector] = result;
    }
}
