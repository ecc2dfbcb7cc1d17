/*@ lightbench(
    title: "Empties the tile before it is full",
    expect: fault(data_race),
    steps: [
        launch(kernel: "transpose", grid: ["ceil_div(cols, 32)", "ceil_div(rows, 32)"], block: [32, 8]),
    ],
) @*/

// The mistake: no barrier between the stores and the loads of the tile.
// How it shows: a warp loads words that other warps have yet to store. On a GPU it is often right.

__global__ void transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows,
                          long long cols) {
    __shared__ unsigned int tile[32][33];
    const long long first_row = blockIdx.y * 32LL;
    const long long first_col = blockIdx.x * 32LL;
    for (int r = threadIdx.y; r < 32; r += 8) {
        if (first_row + r < rows && first_col + threadIdx.x < cols) {
            tile[r][threadIdx.x] = x[(first_row + r) * cols + first_col + threadIdx.x];
        }
    }
    for (int c = threadIdx.y; c < 32; c += 8) {
        if (first_row + threadIdx.x < rows && first_col + c < cols) {
            y[(first_col + c) * rows + first_row + threadIdx.x] = tile[threadIdx.x][c];
        }
    }
}
