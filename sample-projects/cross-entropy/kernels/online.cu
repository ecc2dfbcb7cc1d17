/*@ lightbench(
    title: "Online: maximum and sum in one pass, one block per row",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        launch(kernel: "cross_entropy<PARAM_BLOCK>", grid: ["rows"], block: ["BLOCK"]),
    ],
) @*/

// Against `naive`: a block per row, so loads coalesce; and one pass, in which the sum is scaled down whenever the
// maximum grows (Milakov and Gimelshein, 'Online normalizer calculation for softmax', 2018). Nothing is read twice but
// one logit: unlike softmax, the loss does not need the row again.

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

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
cross_entropy(const __nv_bfloat16* __restrict__ logits, const int* __restrict__ labels, float* __restrict__ loss,
              long long rows, long long classes) {
    const int width = static_cast<int>(classes);
    const __nv_bfloat16* x_row = logits + blockIdx.x * classes;
    Normalizer mine = {lowest_float, 0.0f};
    for (int col = threadIdx.x; col < width; col += BLOCK) {
        mine = merged(mine, {__bfloat162float(x_row[col]), 1.0f});
    }
    const Normalizer row = block_merged<BLOCK>(mine);
    if (threadIdx.x == 0) {
        loss[blockIdx.x] = logf(row.sum) + (row.max - __bfloat162float(x_row[labels[blockIdx.x]]));
    }
}
