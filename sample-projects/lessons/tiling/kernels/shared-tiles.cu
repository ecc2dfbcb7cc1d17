/*@ lightbench(
    title: "Tiles of both matrices in shared memory",
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
    // In each round the block loads a tile of each matrix, and every element of it is used sixteen times.
    __shared__ float left[tile][tile];
    __shared__ float right[tile][tile];
    for (int first = 0; first < n; first += tile) {
        left[ty][tx] = row < n && first + tx < n ? a[row * static_cast<long long>(n) + first + tx] : 0.0f;
        right[ty][tx] = first + ty < n && col < n ? b[(first + ty) * static_cast<long long>(n) + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < tile; ++k) {
            sum += left[ty][k] * right[k][tx];
        }
        // The next round overwrites the tiles.
        __syncthreads();
    }
// lesson: locked
    if (row < n && col < n) {
        c[row * static_cast<long long>(n) + col] = sum;
    }
}
