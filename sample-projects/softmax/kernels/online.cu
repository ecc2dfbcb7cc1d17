/*@ lightbench(
    title: "Online: maximum and sum in one pass, one block per row",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        launch(kernel: "softmax<PARAM_BLOCK>", grid: ["rows"], block: ["BLOCK"]),
    ],
) @*/

// Against `warp-per-row`: x is read twice instead of three times. Each thread keeps the maximum so far
// and the sum of exponentials relative to it; when the maximum grows, the sum is scaled down to match
// (Milakov and Gimelshein, 'Online normalizer calculation for softmax', 2018). A block per row also
// gives a long row more threads than a warp has.

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

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
softmax(const float* __restrict__ x, float* __restrict__ y, long long rows, long long cols) {
    const int width = static_cast<int>(cols);
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;

    Normalizer mine = {lowest_float, 0.0f};
    for (int col = threadIdx.x; col < width; col += BLOCK) {
        mine = merged(mine, {x_row[col], 1.0f});
    }
    const Normalizer row = block_merged<BLOCK>(mine);
    const float reciprocal = 1.0f / row.sum;

    for (int col = threadIdx.x; col < width; col += BLOCK) {
        y_row[col] = __expf(x_row[col] - row.max) * reciprocal;
    }
}
