/*@ lightbench(
    title: "One block per row, 16-byte loads of eight bf16",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        launch(kernel: "rmsnorm<PARAM_BLOCK>", grid: ["rows"], block: ["BLOCK"]),
    ],
) @*/

// Against `warp-shuffle`: a thread moves eight elements per access instead of one, so a warp asks for
// 512 bytes at a time instead of 64, and an eighth of the memory instructions is left.

#include <cuda_bf16.h>

constexpr int elements_per_vector = 8;

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
    __shared__ float partial[BLOCK / 32];
    value = warp_sum(value);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float total = 0.0f;
#pragma unroll
    for (int warp = 0; warp < BLOCK / 32; ++warp) {
        total += partial[warp];
    }
    return total;
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
rmsnorm(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, __nv_bfloat16* __restrict__ y,
        long long rows, long long cols, float eps) {
    // Rows begin at multiples of 16 bytes because cols is a multiple of eight: the project says so.
    const int vectors = static_cast<int>(cols) / elements_per_vector;
    const Bf16x8* x_row = reinterpret_cast<const Bf16x8*>(x + blockIdx.x * cols);
    const Bf16x8* w_row = reinterpret_cast<const Bf16x8*>(w);
    Bf16x8* y_row = reinterpret_cast<Bf16x8*>(y + blockIdx.x * cols);

    float sum_of_squares = 0.0f;
    for (int vector = threadIdx.x; vector < vectors; vector += BLOCK) {
        sum_of_squares += sum_of_squares_of(x_row[vector]);
    }
    const float scale = rsqrtf(block_sum<BLOCK>(sum_of_squares) / static_cast<float>(cols) + eps);

    for (int vector = threadIdx.x; vector < vectors; vector += BLOCK) {
        y_row[vector] = scaled(x_row[vector], scale, w_row[vector]);
    }
}
