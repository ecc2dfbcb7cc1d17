/*@ lightbench(
    title: "Two words in one place",
    expect: fault(data_race),
    steps: [
        launch(kernel: "transpose", grid: ["ceil_div(cols, 32)", "ceil_div(rows, 32)"], block: [32, 8]),
    ],
) @*/

// The mistake: rows of 31 words, so that the last word of a row and the first of the next share a place.
// How it shows: no bank conflict at all, and two warps that store to the same word.

__global__ void transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows,
                          long long cols) {
    __shared__ unsigned int tile[32 * 32];
    const long long first_row = blockIdx.y * 32LL;
    const long long first_col = blockIdx.x * 32LL;
    for (int r = threadIdx.y; r < 32; r += 8) {
        if (first_row + r < rows && first_col + threadIdx.x < cols) {
            tile[31 * r + threadIdx.x] = x[(first_row + r) * cols + first_col + threadIdx.x];
        }
    }
    __syncthreads();
    for (int c = threadIdx.y; c < 32; c += 8) {
        if (first_row + threadIdx.x < rows && first_col + c < cols) {
            y[(first_col + c) * rows + first_row + threadIdx.x] = tile[31 * threadIdx.x + c];
        }
    }
}
