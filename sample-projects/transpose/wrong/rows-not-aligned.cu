/*@ lightbench(
    title: "Takes every row to begin at 16 bytes",
    expect: fault(misaligned),
    steps: [
        launch(kernel: "transpose", grid: ["ceil_div(ceil_div(cols, 4) * rows, 256)"], block: [256]),
    ],
) @*/

// The mistake: uint4 loads from rows of any width. The buffer is aligned; row 1 of a matrix of 131 columns begins
// three words behind a multiple of four.
// How it shows: `misaligned address` in the second row, unless the width is a multiple of four.

__global__ void transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows,
                          long long cols) {
    const long long vectors_per_row = (cols + 3) / 4;
    const long long vector = blockIdx.x * 256LL + threadIdx.x;
    const long long row = vector / vectors_per_row;
    const long long col = 4 * (vector % vectors_per_row);
    if (row >= rows) {
        return;
    }
    if (col + 4 <= cols) {
        const uint4 words = *reinterpret_cast<const uint4*>(x + row * cols + col);
        y[col * rows + row] = words.x;
        y[(col + 1) * rows + row] = words.y;
        y[(col + 2) * rows + row] = words.z;
        y[(col + 3) * rows + row] = words.w;
    } else {
        for (long long last = col; last < cols; ++last) {
            y[last * rows + row] = x[row * cols + last];
        }
    }
}
