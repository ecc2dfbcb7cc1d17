/*@ lightbench(
    title: "An index of 32 bits, behind tiles in a grid of one dimension",
    params: { "BLOCK_ROWS": [8] },
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "transpose<PARAM_BLOCK_ROWS>", grid: ["ceil_div(rows, 32) * ceil_div(cols, 32)"],
               block: [32, "BLOCK_ROWS"]),
    ],
) @*/

// The mistake: `col * rows + row` is computed in 64 bits and stored in 32, and becomes negative from element 2^31 on.
// How it shows: only in a matrix of more than 8 GiB, in the last tiles.

constexpr int tile_size = 32;

template <int BLOCK_ROWS>
__global__ void __launch_bounds__(tile_size * BLOCK_ROWS)
transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows, long long cols) {
    __shared__ unsigned int tile[tile_size][tile_size + 1];
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
#pragma unroll
    for (int step = 0; step < tile_size; step += BLOCK_ROWS) {
        const long long row = first_row + threadIdx.x;
        const long long col = first_col + threadIdx.y + step;
        if (row < rows && col < cols) {
            const int index = static_cast<int>(col * rows + row);
            y[index] = tile[threadIdx.x][threadIdx.y + step];
        }
    }
}
