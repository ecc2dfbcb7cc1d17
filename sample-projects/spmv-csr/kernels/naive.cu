/*@ lightbench(
    title: "One thread per row",
    params: { "BLOCK": [128, 64, 256, 512] },
    steps: [
        launch(kernel: "spmv<PARAM_BLOCK>", args: ["offsets", "indices", "values", "x", "y", "rows"],
               grid: ["ceil_div(rows, BLOCK)"], block: ["BLOCK"]),
    ],
) @*/

// The definition ('scalar CSR'). The 32 threads of a warp walk 32 rows side by side: they load from 32 places, and all
// of them wait for the longest row.

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK)
spmv(const int* __restrict__ offsets, const int* __restrict__ indices, const float* __restrict__ values,
     const float* __restrict__ x, float* __restrict__ y, int rows) {
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const int end = offsets[row + 1];
    float sum = 0.0f;
    for (int place = offsets[row]; place < end; ++place) {
        sum += values[place] * x[indices[place]];
    }
    y[row] = sum;
}
