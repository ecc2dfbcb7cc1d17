/*@ lightbench(
    title: "One thread per element",
    params: { "BLOCK_ROWS": [8, 16, 4, 32] },
    steps: [
        launch(kernel: "transpose<PARAM_BLOCK_ROWS>",
               grid: ["ceil_div(cols, 32)", "min(65535, ceil_div(rows, BLOCK_ROWS))"],
               block: [32, "BLOCK_ROWS"]),
    ],
) @*/

// The 32 threads of a warp read 32 neighbours of one row: a single line. They write 32 elements of one column of y,
// which is 32 lines, and four useful bytes in each.

template <int BLOCK_ROWS>
__global__ void __launch_bounds__(32 * BLOCK_ROWS)
transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows, long long cols) {
    const long long col = blockIdx.x * 32LL + threadIdx.x;
    // A grid has at most 65,535 blocks along y; taller matrices take several rounds.
    for (long long row = blockIdx.y * BLOCK_ROWS + threadIdx.y; row < rows; row += gridDim.y * BLOCK_ROWS) {
        if (col < cols) {
            y[col * rows + row] = x[row * cols + col];
        }
    }
}
