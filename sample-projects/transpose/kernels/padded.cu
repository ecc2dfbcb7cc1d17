/*@ lightbench(
    title: "A tile with one column of padding",
    params: { "BLOCK_ROWS": [8, 16, 4, 32] },
    steps: [
        launch(kernel: "transpose<PARAM_BLOCK_ROWS>", grid: ["ceil_div(cols, 32) * ceil_div(rows, 32)"],
               block: [32, "BLOCK_ROWS"]),
    ],
) @*/

// Against `tile`: each row of the tile is 33 words long. Element (i, j) lives in bank (33 i + j) % 32 = (i + j) % 32,
// so that a row and a column both touch 32 different banks. One word per row, and the conflicts are gone.

constexpr int tile_size = 32;

template <int BLOCK_ROWS>
__global__ void __launch_bounds__(tile_size * BLOCK_ROWS)
transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows, long long cols) {
    __shared__ unsigned int tile[tile_size][tile_size + 1];
    // One dimension of blocks: the second one of a grid ends at 65,535.
    const unsigned int tiles_per_row = static_cast<unsigned int>((cols + tile_size - 1) / tile_size);
    const long long first_col = static_cast<long long>(blockIdx.x % tiles_per_row) * tile_size;
    const long long first_row = static_cast<long long>(blockIdx.x / tiles_per_row) * tile_size;

#pragma unroll
    for (int step = 0; step < tile_size; step += BLOCK_ROWS) {
        const long long row = first_row + threadIdx.y + step;
        const long long col = first_col + threadIdx.x;
        if (row < rows && col < cols) {
            tile[threadIdx.y + step][threadIdx.x] = x[row * cols + col];
        }
    }
    __syncthreads();
    // The roles of the two indices change: threadIdx.x now runs along a row of y.
#pragma unroll
    for (int step = 0; step < tile_size; step += BLOCK_ROWS) {
        const long long row = first_row + threadIdx.x;
        const long long col = first_col + threadIdx.y + step;
        if (row < rows && col < cols) {
            y[col * rows + row] = tile[threadIdx.x][threadIdx.y + step];
        }
    }
}
