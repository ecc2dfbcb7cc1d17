/*@ lightbench(
    title: "16-byte loads from rows that begin anywhere",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        launch(kernel: "cross_entropy<PARAM_BLOCK>", grid: ["rows"], block: ["BLOCK"]),
    ],
) @*/

// Against `online`: eight logits per load, and the sum is rescaled once for eight of them, not for each. That is nine
// exponentials for eight logits instead of sixteen.
//
// A row of 50,257 bf16 begins at an odd multiple of two bytes. So up to seven logits at its beginning and at its end
// are taken one by one, and all between them is vectors: 6,281 of them, whichever row it is.

#include <cuda_bf16.h>

// Instead of minus infinity: the difference of two of these is zero, not NaN.
constexpr float lowest_float = -3.402823466e+38f;

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
    __shared__ Normalizer partial[BLOCK / 32];
    value = warp_merged(value);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = partial[0];
#pragma unroll
    for (int warp = 1; warp < BLOCK / 32; ++warp) {
        value = merged(value, partial[warp]);
    }
    return value;
}

// A bf16 is the upper half of the f32 with the same value.
__device__ void unpack(uint4 vector, float (&values)[8]) {
    const unsigned int pairs[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        values[2 * pair] = __uint_as_float(pairs[pair] << 16);
        values[2 * pair + 1] = __uint_as_float(pairs[pair] & 0xffff0000u);
    }
}

__device__ Normalizer with_eight(Normalizer value, const float (&values)[8]) {
    float max = value.max;
#pragma unroll
    for (int index = 0; index < 8; ++index) {
        max = fmaxf(max, values[index]);
    }
    float sum = value.sum * __expf(value.max - max);
#pragma unroll
    for (int index = 0; index < 8; ++index) {
        sum += __expf(values[index] - max);
    }
    return {max, sum};
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
cross_entropy(const __nv_bfloat16* __restrict__ logits, const int* __restrict__ labels, float* __restrict__ loss,
              long long rows, long long classes) {
    const int width = static_cast<int>(classes);
    const long long begin = blockIdx.x * classes;
    const __nv_bfloat16* x_row = logits + begin;
    // The buffer is aligned, so the place of a row in it says how far the next multiple of eight elements is.
    const int head = min(width, static_cast<int>(-begin & 7));
    const int vectors = (width - head) / 8;
    const int tail = head + 8 * vectors;

    Normalizer mine = {lowest_float, 0.0f};
    if (threadIdx.x < head) {
        mine = merged(mine, {__bfloat162float(x_row[threadIdx.x]), 1.0f});
    }
    const uint4* x_vectors = reinterpret_cast<const uint4*>(x_row + head);
    for (int vector = threadIdx.x; vector < vectors; vector += BLOCK) {
        float values[8];
        unpack(x_vectors[vector], values);
        mine = with_eight(mine, values);
    }
    if (tail + threadIdx.x < width) {
        mine = merged(mine, {__bfloat162float(x_row[tail + threadIdx.x]), 1.0f});
    }
    const Normalizer row = block_merged<BLOCK>(mine);
    if (threadIdx.x == 0) {
        loss[blockIdx.x] = logf(row.sum) + (row.max - __bfloat162float(x_row[labels[blockIdx.x]]));
    }
}
