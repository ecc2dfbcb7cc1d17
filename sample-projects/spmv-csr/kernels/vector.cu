/*@ lightbench(
    title: "LANES threads per row",
    params: { "LANES": [8, 32, 16, 4, 2], "BLOCK": [256, 128, 512] },
    steps: [
        launch(kernel: "spmv<PARAM_LANES, PARAM_BLOCK>", args: ["offsets", "indices", "values", "x", "y", "rows"],
               grid: ["ceil_div(rows, BLOCK // LANES)"], block: ["BLOCK"]),
    ],
) @*/

// Against `naive`: LANES neighbouring threads share a row ('vector CSR'), so they read neighbouring elements, and the
// rows of a warp end closer together. LANES should be near the usual length of a row: with 32, a row of four elements
// leaves 28 lanes without work; with 2, a long row is slow again.

template <int LANES, int BLOCK>
__global__ void __launch_bounds__(BLOCK)
spmv(const int* __restrict__ offsets, const int* __restrict__ indices, const float* __restrict__ values,
     const float* __restrict__ x, float* __restrict__ y, int rows) {
    const int row = blockIdx.x * (BLOCK / LANES) + threadIdx.x / LANES;
    const int lane = threadIdx.x % LANES;
    float sum = 0.0f;
    // No early return: all lanes of the warp take part in the shuffles below.
    if (row < rows) {
        const int end = offsets[row + 1];
        for (int place = offsets[row] + lane; place < end; place += LANES) {
            sum += values[place] * x[indices[place]];
        }
    }
#pragma unroll
    for (int distance = LANES / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (row < rows && lane == 0) {
        y[row] = sum;
    }
}
