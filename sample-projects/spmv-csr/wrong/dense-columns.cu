/*@ lightbench(
    title: "Takes the elements of a row to be its first columns",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "spmv", args: ["offsets", "indices", "values", "x", "y", "rows"],
               grid: ["ceil_div(rows, 128)"], block: [128]),
    ],
) @*/

// The mistake: the position in the row is used as the column; the indices are not read.
// How it shows: a matrix whose rows are dense from the left is right. So is any matrix if x is all ones.

__global__ void spmv(const int* __restrict__ offsets, const int* __restrict__ indices,
                     const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, int rows) {
    const int row = blockIdx.x * 128 + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const int begin = offsets[row];
    float sum = 0.0f;
    for (int place = begin; place < offsets[row + 1]; ++place) {
        sum += values[place] * x[place - begin];
    }
    y[row] = sum;
}
