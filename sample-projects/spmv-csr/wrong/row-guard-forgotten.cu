/*@ lightbench(
    title: "Every block is full",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "spmv", args: ["offsets", "indices", "values", "x", "y", "rows"],
               grid: ["ceil_div(rows, 128)"], block: [128]),
    ],
) @*/

// The mistake: no comparison with the number of rows.
// How it shows: the threads behind the last row take whatever follows the offsets for the beginning of a row, and write
// behind y. Multiples of 128 rows are right.

__global__ void spmv(const int* __restrict__ offsets, const int* __restrict__ indices,
                     const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, int rows) {
    const int row = blockIdx.x * 128 + threadIdx.x;
    float sum = 0.0f;
    for (int place = offsets[row]; place < offsets[row + 1]; ++place) {
        sum += values[place] * x[indices[place]];
    }
    y[row] = sum;
}
