/*@ lightbench(
    title: "Moves the tiles, and leaves them as they are inside",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "transpose", grid: ["ceil_div(cols, 32)", "ceil_div(rows, 32)"], block: [32, 8]),
    ],
) @*/

// The mistake: the tile is read as it was written, row by row. Each tile arrives in the right place of y, but what
// is inside it was not transposed.
// How it shows: the sum, the maximum and the diagonal are right, and so is every matrix of which all tiles are
// symmetric: `ones`, `zeros`, the identity.

__global__ void transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows,
                          long long cols) {
    __shared__ unsigned int tile[32][32];
    const long long first_row = blockIdx.y * 32LL;
    const long long first_col = blockIdx.x * 32LL;
    for (int step = 0; step < 32; step += 8) {
        const long long row = first_row + threadIdx.y + step;
        const long long col = first_col + threadIdx.x;
        tile[threadIdx.y + step][threadIdx.x] = row < rows && col < cols ? x[row * cols + col] : 0u;
    }
    __syncthreads();
    for (int step = 0; step < 32; step += 8) {
        const long long row = first_row + threadIdx.x;
        const long long col = first_col + threadIdx.y + step;
        if (row < rows && col < cols) {
            y[col * rows + row] = tile[threadIdx.y + step][threadIdx.x];
        }
    }
}
