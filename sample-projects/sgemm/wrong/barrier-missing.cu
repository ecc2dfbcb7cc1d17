/*@ lightbench(
    title: "Loads the next tile over the one in use",
    expect: fault(data_race),
    steps: [
        launch(kernel: "sgemm", grid: ["ceil_div(n, 16)", "ceil_div(m, 16)"], block: [16, 16]),
    ],
) @*/

// The mistake: the barrier at the end of the loop is left out, since there is one at its beginning.
// How it shows: a warp that is done multiplying loads the next tiles while a slower one still reads these. Up to k = 16
// there is no next tile, and everything is right.

__global__ void sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
                      int k) {
    __shared__ float a_tile[16][16];
    __shared__ float b_tile[16][16];
    const int row = blockIdx.y * 16 + threadIdx.y;
    const int col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += 16) {
        const int a_col = first + threadIdx.x;
        const int b_row = first + threadIdx.y;
        a_tile[threadIdx.y][threadIdx.x] = row < m && a_col < k ? a[static_cast<long long>(row) * k + a_col] : 0.0f;
        b_tile[threadIdx.y][threadIdx.x] = b_row < k && col < n ? b[static_cast<long long>(b_row) * n + col] : 0.0f;
        __syncthreads();
        for (int index = 0; index < 16; ++index) {
            sum += a_tile[threadIdx.y][index] * b_tile[index][threadIdx.x];
        }
    }
    if (row < m && col < n) {
        c[static_cast<long long>(row) * n + col] = sum;
    }
}
