/*@ lightbench(
    title: "Guards what it writes and not what it reads",
    expect: fault(out_of_bounds),
    steps: [
        launch(kernel: "sgemm", grid: ["ceil_div(n, 16)", "ceil_div(m, 16)"], block: [16, 16]),
    ],
) @*/

// The mistake: only the store has a guard, because a wrong product in a row that is not stored does no harm.
// How it shows: reads up to 15 rows beyond a and b. Between the rows it is worse: elements of the next row of a
// are multiplied with rows of b that do not exist.

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
        a_tile[threadIdx.y][threadIdx.x] = a[static_cast<long long>(row) * k + a_col];
        b_tile[threadIdx.y][threadIdx.x] = b[static_cast<long long>(b_row) * n + col];
        __syncthreads();
        for (int index = 0; index < 16; ++index) {
            sum += a_tile[threadIdx.y][index] * b_tile[index][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < m && col < n) {
        c[static_cast<long long>(row) * n + col] = sum;
    }
}
