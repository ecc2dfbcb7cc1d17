/*@ lightbench(
    title: "One thread per element of c",
    params: { "BLOCK_ROWS": [8, 4, 16, 32] },
    steps: [
        launch(kernel: "sgemm<PARAM_BLOCK_ROWS>", grid: ["ceil_div(n, 32)", "ceil_div(m, BLOCK_ROWS)"],
               block: [32, "BLOCK_ROWS"]),
    ],
) @*/

// The definition. A warp shares one element of a (a broadcast) and reads 32 neighbours of b: coalesced, but two loads
// for every multiply-add, so the load units are the limit and the arithmetic ones have nothing to do.

template <int BLOCK_ROWS>
__global__ void __launch_bounds__(32 * BLOCK_ROWS)
sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = blockIdx.y * BLOCK_ROWS + threadIdx.y;
    if (row >= m || col >= n) {
        return;
    }
    const float* a_row = a + static_cast<long long>(row) * k;
    float sum = 0.0f;
    for (int index = 0; index < k; ++index) {
        sum += a_row[index] * b[static_cast<long long>(index) * n + col];
    }
    c[static_cast<long long>(row) * n + col] = sum;
}
