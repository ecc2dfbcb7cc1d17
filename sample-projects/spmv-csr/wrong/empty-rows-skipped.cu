/*@ lightbench(
    title: "Leaves at once where there is nothing to add",
    expect: wrong(unwritten),
    steps: [
        launch(kernel: "spmv", args: ["offsets", "indices", "values", "x", "y", "rows"],
               grid: ["ceil_div(rows, 128)"], block: [128]),
    ],
) @*/

// The mistake: a row without elements is left early, without writing its zero.
// How it shows: only if there are empty rows, and only if y was not zero anyway.

__global__ void spmv(const int* __restrict__ offsets, const int* __restrict__ indices,
                     const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, int rows) {
    const int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const int begin = offsets[row];
    const int end = offsets[row + 1];
    if (begin == end) {
        return;
    }
    float sum = 0.0f;
    for (int place = begin; place < end; ++place) {
        sum += values[place] * x[indices[place]];
    }
    y[row] = sum;
}
