/*@ lightbench(
    title: "Loads with the guard of the stores",
    expect: fault(uninitialized_read),
    steps: [
        launch(kernel: "transpose", grid: ["ceil_div(cols, 32)", "ceil_div(rows, 32)"], block: [32, 8]),
    ],
) @*/

// The mistake: in the second loop threadIdx.x runs along the rows of x and threadIdx.y along its columns. The guard
// of that loop was copied to the first, where it is the other way round, so the wrong corner of a partial tile is
// cut off; a further comparison keeps the loads inside x.
// How it shows: words that nobody loaded are written to y. Whole tiles are right.

__global__ void transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows,
                          long long cols) {
    __shared__ unsigned int tile[32][33];
    const long long first_row = blockIdx.y * 32LL;
    const long long first_col = blockIdx.x * 32LL;
    for (int step = 0; step < 32; step += 8) {
        const long long from = (first_row + threadIdx.y + step) * cols + first_col + threadIdx.x;
        if (first_row + threadIdx.x < rows && first_col + threadIdx.y + step < cols && from < rows * cols) {
            tile[threadIdx.y + step][threadIdx.x] = x[from];
        }
    }
    __syncthreads();
    for (int step = 0; step < 32; step += 8) {
        const long long row = first_row + threadIdx.x;
        const long long col = first_col + threadIdx.y + step;
        if (row < rows && col < cols) {
            y[col * rows + row] = tile[threadIdx.x][threadIdx.y + step];
        }
    }
}
