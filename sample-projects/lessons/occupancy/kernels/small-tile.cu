/*@ lightbench(
    title: "A tile of the size that is used",
    steps: [
        launch(kernel: "smooth", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// lesson: locked, a block has 256 threads, and each computes one element
constexpr int threads_per_block = 256;

__global__ void smooth(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const int t = threadIdx.x;
    const long long i = static_cast<long long>(blockIdx.x) * threads_per_block + t;
// lesson: open
    // The elements of the block, and one at each end.
    __shared__ float tile[threads_per_block + 2];
// lesson: locked, the tile has one element more at each end
    tile[t + 1] = i < n ? x[i] : 0.0f;
    if (t == 0) {
        tile[0] = i > 0 ? x[i - 1] : 0.0f;
    }
    if (t == threads_per_block - 1) {
        tile[threads_per_block + 1] = i + 1 < n ? x[i + 1] : 0.0f;
    }
    __syncthreads();
    if (i < n) {
        y[i] = (tile[t] + tile[t + 1] + tile[t + 2]) * (1.0f / 3.0f);
    }
}
