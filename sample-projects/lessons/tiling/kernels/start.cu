/*@ lightbench(
    title: "Begin here: every thread reads a row and a column",
    steps: [
        launch(kernel: "product", grid: ["ceil_div(n, 16)", "ceil_div(n, 16)"], block: [16, 16]),
    ],
) @*/

// lesson: locked, a block of 16 by 16 threads computes 16 by 16 elements of c
constexpr int tile = 16;

__global__ void product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * tile + ty;
    const int col = blockIdx.x * tile + tx;
    float sum = 0.0f;
// lesson: open
    // Sixteen threads of the block read the same row of a, and sixteen the same column of b.
    if (row < n && col < n) {
        for (int k = 0; k < n; ++k) {
            sum += a[row * static_cast<long long>(n) + k] * b[k * static_cast<long long>(n) + col];
        }
    }
// lesson: locked
    if (row < n && col < n) {
        c[row * static_cast<long long>(n) + col] = sum;
    }
}
