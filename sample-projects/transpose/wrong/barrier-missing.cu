/*@ lightbench(
    title: "Refills the tile while others still read it",
    expect: fault(data_race),
    steps: [
        launch(kernel: "transpose", grid: ["ceil_div(rows, 32)"], block: [32, 8]),
    ],
) @*/

// The mistake: a block walks along a whole row of tiles. There is a barrier between filling the tile and emptying
// it, and none between emptying it and filling it again.
// How it shows: a warp that is done writing loads the next tile over words that a slower warp has yet to take out.
// A matrix of 32 columns is always right.

__global__ void transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows,
                          long long cols) {
    __shared__ unsigned int tile[32][33];
    const long long first_row = blockIdx.x * 32LL;
    for (long long first_col = 0; first_col < cols; first_col += 32) {
        for (int step = 0; step < 32; step += 8) {
            const long long row = first_row + threadIdx.y + step;
            const long long col = first_col + threadIdx.x;
            if (row < rows && col < cols) {
                tile[threadIdx.y + step][threadIdx.x] = x[row * cols + col];
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
}
