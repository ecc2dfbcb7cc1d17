/*@ lightbench(
    title: "Turns the square in place first",
    expect: fault(input_modified),
    steps: [
        launch(kernel: "transpose", grid: [1], block: [256]),
    ],
) @*/

// The mistake: the largest square of the matrix is transposed inside x and copied from there.
// How it shows: y is right. x is not what the caller left in it.

__global__ void transpose(unsigned int* x, unsigned int* y, long long rows, long long cols) {
    const long long side = min(rows, cols);
    for (long long index = threadIdx.x; index < side * side; index += 256) {
        const long long row = index / side;
        const long long col = index % side;
        if (row < col) {
            const unsigned int upper = x[row * cols + col];
            x[row * cols + col] = x[col * cols + row];
            x[col * cols + row] = upper;
        }
    }
    __syncthreads();
    for (long long index = threadIdx.x; index < rows * cols; index += 256) {
        const long long row = index / cols;
        const long long col = index % cols;
        const bool is_turned = row < side && col < side;
        y[col * rows + row] = is_turned ? x[col * cols + row] : x[row * cols + col];
    }
}
