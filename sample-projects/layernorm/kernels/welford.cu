/*@ lightbench(
    title: "Mean and variance in one pass (Welford), one block per row",
    params: { "BLOCK": [256, 128, 512, 1024] },
    steps: [
        launch(kernel: "layernorm<PARAM_BLOCK>", grid: ["rows"], block: ["BLOCK"]),
    ],
) @*/

// Against `warp-per-row`: x is read twice instead of three times. Mean and sum of squared differences are carried along
// together, each new element correcting both (Welford, 1962), and two such results are merged exactly as two
// elements would be (Chan, Golub and LeVeque, 1979). No large numbers are subtracted from each other, so a large
// mean does no harm: compare `wrong/one-pass-variance`.

struct Moments {
    float count;
    float mean;
    float squares;  // sum of squared differences from the mean
};

__device__ Moments merged(Moments left, Moments right) {
    const float count = left.count + right.count;
    if (count == 0.0f) {
        return left;
    }
    const float difference = right.mean - left.mean;
    const float share = right.count / count;
    return {count, left.mean + difference * share,
            left.squares + right.squares + difference * difference * left.count * share};
}

__device__ Moments warp_merged(Moments value) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        const Moments other = {__shfl_xor_sync(0xffffffffu, value.count, distance),
                               __shfl_xor_sync(0xffffffffu, value.mean, distance),
                               __shfl_xor_sync(0xffffffffu, value.squares, distance)};
        // Both partners must merge in the same order, or they end up with different last bits.
        value = (threadIdx.x & distance) == 0 ? merged(value, other) : merged(other, value);
    }
    return value;
}

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
layernorm(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
          float* __restrict__ y, long long rows, long long cols, float eps) {
    constexpr int warps = BLOCK / 32;
    __shared__ Moments partial[warps];
    const int width = static_cast<int>(cols);
    const float* x_row = x + blockIdx.x * cols;
    float* y_row = y + blockIdx.x * cols;

    Moments mine = {0.0f, 0.0f, 0.0f};
    for (int col = threadIdx.x; col < width; col += BLOCK) {
        const float difference = x_row[col] - mine.mean;
        mine.count += 1.0f;
        mine.mean += difference / mine.count;
        mine.squares += difference * (x_row[col] - mine.mean);
    }
    mine = warp_merged(mine);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = mine;
    }
    __syncthreads();
    Moments row = partial[0];
#pragma unroll
    for (int warp = 1; warp < warps; ++warp) {
        row = merged(row, partial[warp]);
    }
    const float scale = rsqrtf(row.squares / row.count + eps);

    for (int col = threadIdx.x; col < width; col += BLOCK) {
        y_row[col] = (x_row[col] - row.mean) * scale * gamma[col] + beta[col];
    }
}
