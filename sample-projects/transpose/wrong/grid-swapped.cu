/*@ lightbench(
    title: "Counts the tiles of y, walks those of x",
    expect: wrong(unwritten),
    steps: [
        launch(kernel: "transpose", grid: ["ceil_div(rows, 32)", "ceil_div(cols, 32)"], block: [32, 8]),
    ],
) @*/

// The mistake: the two dimensions of the grid are exchanged. blockIdx.x counts tiles along the columns, but there
// are ceil_div(rows, 32) of it.
// How it shows: a tall matrix loses its lower part and a wide one its right part; the guards keep the rest in
// bounds. A square is right.

__global__ void transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows,
                          long long cols) {
    __shared__ unsigned int tile[32][33];
    for (int step = 0; step < 32; step += 8) {
        const long long row = blockIdx.y * 32LL + threadIdx.y + step;
        const long long col = blockIdx.x * 32LL + threadIdx.x;
        if (row < rows && col < cols) {
            tile[threadIdx.y + step][threadIdx.x] = x[row * cols + col];
        }
    }
    __syncthreads();
    for (int step = 0; step < 32; step += 8) {
        const long long row = blockIdx.y * 32LL + threadIdx.x;
        const long long col = blockIdx.x * 32LL + threadIdx.y + step;
        if (row < rows && col < cols) {
            y[col * rows + row] = tile[threadIdx.x][threadIdx.y + step];
        }
    }
}
