/*@ lightbench(
    title: "Adds up the whole warp for every row in it",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "spmv", args: ["offsets", "indices", "values", "x", "y", "rows"],
               grid: ["ceil_div(rows, 16)"], block: [128]),
    ],
) @*/

// The mistake: eight lanes share a row, but the shuffles start at a distance of 16, as for a row in a whole warp.
// How it shows: four rows get the sum of all four.

__global__ void spmv(const int* __restrict__ offsets, const int* __restrict__ indices,
                     const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, int rows) {
    const int row = blockIdx.x * 16 + threadIdx.x / 8;
    const int lane = threadIdx.x % 8;
    float sum = 0.0f;
    if (row < rows) {
        for (int place = offsets[row] + lane; place < offsets[row + 1]; place += 8) {
            sum += values[place] * x[indices[place]];
        }
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    if (row < rows && lane == 0) {
        y[row] = sum;
    }
}
