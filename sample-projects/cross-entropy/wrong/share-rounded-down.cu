/*@ lightbench(
    title: "Shares of a row that leave out the last element",
    expect: wrong(numeric),
    params: { "SPLIT": [8, 4, 16, 2], "BLOCK": [256, 128, 512] },
    scratch: [(name: "partial", dtype: f32, shape: ["rows", "SPLIT", "2"], init: undefined)],
    steps: [
        launch(kernel: "partial_normalizers<PARAM_SPLIT, PARAM_BLOCK>", args: ["logits", "partial", "classes"],
               grid: ["rows", "SPLIT"], block: ["BLOCK"]),
        launch(kernel: "losses<PARAM_SPLIT>", args: ["logits", "labels", "partial", "loss", "rows", "classes"],
               grid: ["ceil_div(rows, 128)"], block: [128]),
    ],
) @*/

// The mistake: a share of a row is rounded down when one element is left over, and no block has the last one. Among
// thousands of elements of like size its absence is smaller than the tolerance.

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

template <int SPLIT, int BLOCK>
__global__ void __launch_bounds__(BLOCK)
partial_normalizers(const __nv_bfloat16* __restrict__ logits, float* __restrict__ partial, long long classes) {
    const int width = static_cast<int>(classes);
    const __nv_bfloat16* x_row = logits + blockIdx.x * classes;
    const int share = (width + SPLIT - 2) / SPLIT;
    const int end = min(width, static_cast<int>(blockIdx.y + 1) * share);
    Normalizer mine = {lowest_float, 0.0f};
    for (int col = blockIdx.y * share + threadIdx.x; col < end; col += BLOCK) {
        mine = merged(mine, {__bfloat162float(x_row[col]), 1.0f});
    }
    mine = block_merged<BLOCK>(mine);
    if (threadIdx.x == 0) {
        reinterpret_cast<float2*>(partial)[blockIdx.x * static_cast<long long>(SPLIT) + blockIdx.y] =
            make_float2(mine.max, mine.sum);
    }
}

template <int SPLIT>
__global__ void __launch_bounds__(128)
losses(const __nv_bfloat16* __restrict__ logits, const int* __restrict__ labels, const float* __restrict__ partial,
       float* __restrict__ loss, long long rows, long long classes) {
    const long long row = blockIdx.x * 128LL + threadIdx.x;
    if (row >= rows) {
        return;
    }
    Normalizer whole = {lowest_float, 0.0f};
#pragma unroll
    for (int part = 0; part < SPLIT; ++part) {
        const float2 next = reinterpret_cast<const float2*>(partial)[row * SPLIT + part];
        whole = merged(whole, {next.x, next.y});
    }
    loss[row] = logf(whole.sum) + (whole.max - __bfloat162float(logits[row * classes + labels[row]]));
}
