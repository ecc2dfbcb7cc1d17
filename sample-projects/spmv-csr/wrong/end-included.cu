/*@ lightbench(
    title: "Takes the end of a row to belong to it",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "spmv", args: ["offsets", "indices", "values", "x", "y", "rows"],
               grid: ["ceil_div(rows, 128)"], block: [128]),
    ],
) @*/

// The mistake: `<=`. Each row also adds the first element of the next.
// How it shows: in the results, and behind the last element of all, which the last row reads.

__global__ void spmv(const int* __restrict__ offsets, const int* __restrict__ indices,
                     const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, int rows) {
    const int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (int place = offsets[row]; place <= offsets[row + 1]; ++place) {
        sum += values[place] * x[indices[place]];
    }
    y[row] = sum;
}
