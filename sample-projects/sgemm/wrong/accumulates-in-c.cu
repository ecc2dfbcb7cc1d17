/*@ lightbench(
    title: "Adds to c in memory",
    expect: fault(uninitialized_read),
    steps: [
        launch(kernel: "sgemm", grid: ["ceil_div(n, 16)", "ceil_div(m, 16)"], block: [16, 16]),
    ],
) @*/

// The mistake: `c += a * b`, as BLAS does with beta = 1, into memory that nobody has set to zero.
// How it shows: fresh memory is often zero, and then the first call is right.

__global__ void sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
                      int k) {
    const int row = blockIdx.y * 16 + threadIdx.y;
    const int col = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || col >= n) {
        return;
    }
    for (int index = 0; index < k; ++index) {
        c[static_cast<long long>(row) * n + col] +=
            a[static_cast<long long>(row) * k + index] * b[static_cast<long long>(index) * n + col];
    }
}
