/*@ lightbench(
    title: "Tiles of a and b in shared memory",
    params: { "TILE": [32, 16] },
    steps: [
        launch(kernel: "sgemm<PARAM_TILE>", grid: ["ceil_div(n, TILE)", "ceil_div(m, TILE)"], block: ["TILE", "TILE"]),
    ],
) @*/

// Against `naive`: a block loads a tile of a and one of b once and uses each element TILE times from shared memory, so
// memory is read TILE times less often. There are still two loads for every multiply-add; they come from nearer by.
//
// Elements outside the matrices are loaded as zeros, which add nothing. So the inner loop needs no guard.

template <int TILE>
__global__ void __launch_bounds__(TILE* TILE)
sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        const int a_col = first + threadIdx.x;
        const int b_row = first + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < m && a_col < k ? a[static_cast<long long>(row) * k + a_col] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < k && col < n ? b[static_cast<long long>(b_row) * n + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int index = 0; index < TILE; ++index) {
            sum += a_tile[threadIdx.y][index] * b_tile[index][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < m && col < n) {
        c[static_cast<long long>(row) * n + col] = sum;
    }
}
