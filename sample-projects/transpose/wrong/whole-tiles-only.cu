/*@ lightbench(
    title: "Reads whole tiles",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "transpose", grid: ["ceil_div(cols, 32)", "ceil_div(rows, 32)"], block: [32, 8]),
    ],
) @*/

// The mistake: the loads have no guard, because `too many loads do no harm`; the stores have one.
// How it shows: every result is right. The last tiles read up to 31 rows beyond the end of x.

__global__ void transpose(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long rows,
                          long long cols) {
    __shared__ unsigned int tile[32][33];
    for (int step = 0; step < 32; step += 8) {
        const long long row = blockIdx.y * 32LL + threadIdx.y + step;
        const long long col = blockIdx.x * 32LL + threadIdx.x;
        tile[threadIdx.y + step][threadIdx.x] = x[row * cols + col];
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
