/*@ lightbench(
    title: "Begin here: a tile of 32 times 32 words",
    steps: [
        launch(kernel: "transpose", grid: ["ceil_div(cols, 32)", "ceil_div(rows, 32)"], block: [32, 8]),
    ],
) @*/

// Where row r and column c of the tile lie in shared memory, and how many words it has.
constexpr int words = 32 * 32;

__device__ __forceinline__ int place(int r, int c) {
    return 32 * r + c;
}

// lesson: locked, both sides of global memory are whole lines already
__global__ void transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows,
                          long long cols) {
    __shared__ unsigned int tile[words];
    const long long first_row = blockIdx.y * 32LL;
    const long long first_col = blockIdx.x * 32LL;
    for (int step = 0; step < 32; step += 8) {
        const int r = threadIdx.y + step, c = threadIdx.x;
        if (first_row + r < rows && first_col + c < cols) {
            tile[place(r, c)] = x[(first_row + r) * cols + first_col + c];
        }
    }
    __syncthreads();
    for (int step = 0; step < 32; step += 8) {
        const int r = threadIdx.x, c = threadIdx.y + step;
        if (first_row + r < rows && first_col + c < cols) {
            y[(first_col + c) * rows + first_row + r] = tile[place(r, c)];
        }
    }
}
