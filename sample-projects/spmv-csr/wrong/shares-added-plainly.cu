/*@ lightbench(
    title: "Adds its share of a row with +=",
    expect: fault(data_race),
    steps: [
        fill(buffer: "y", value: 0),
        launch(kernel: "spmv", args: ["offsets", "indices", "values", "x", "y", "rows"],
               grid: ["ceil_div(rows, 32)"], block: [128]),
    ],
) @*/

// The mistake: four threads take a quarter of a row each and add it to y, without an atomic.
// How it shows: of four additions to the same element any number survives.

__global__ void spmv(const int* __restrict__ offsets, const int* __restrict__ indices,
                     const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, int rows) {
    const int row = blockIdx.x * 32 + threadIdx.x / 4;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (int place = offsets[row] + threadIdx.x % 4; place < offsets[row + 1]; place += 4) {
        sum += values[place] * x[indices[place]];
    }
    y[row] += sum;
}
