/*@ lightbench(
    title: "Reads b as float4 whatever its width",
    expect: fault(misaligned),
    steps: [
        launch(kernel: "sgemm", grid: ["ceil_div(n, 64)", "ceil_div(m, 16)"], block: [16, 16]),
    ],
) @*/

// The mistake: a thread computes four neighbours and reads b by 16-byte vectors. Row 1 of a matrix with 53 columns
// begins 4 bytes behind a multiple of 16.
// How it shows: `misaligned address`, unless n is a multiple of four.

__global__ void sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
                      int k) {
    const int row = blockIdx.y * 16 + threadIdx.y;
    const int col = blockIdx.x * 64 + threadIdx.x * 4;
    if (row >= m || col >= n) {
        return;
    }
    float sums[4] = {};
    for (int index = 0; index < k; ++index) {
        const float left = a[static_cast<long long>(row) * k + index];
        const float* from = b + static_cast<long long>(index) * n + col;
        if (col + 4 <= n) {
            const float4 right = *reinterpret_cast<const float4*>(from);
            sums[0] += left * right.x;
            sums[1] += left * right.y;
            sums[2] += left * right.z;
            sums[3] += left * right.w;
        } else {
            for (int last = 0; last < n - col; ++last) {
                sums[last] += left * from[last];
            }
        }
    }
    for (int last = 0; last < min(4, n - col); ++last) {
        c[static_cast<long long>(row) * n + col + last] = sums[last];
    }
}
