/*@ lightbench(
    title: "Scans each tile by itself",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "scan", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: nobody adds what came before the tile.
// How it shows: the first 256 elements are right, which is where people look.

__global__ void scan(const int* __restrict__ x, int* __restrict__ y, long long n) {
    __shared__ unsigned int sums[2][256];
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    int current = 0;
    sums[0][threadIdx.x] = index < n ? static_cast<unsigned int>(x[index]) : 0u;
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
        const unsigned int before = threadIdx.x >= distance ? sums[current][threadIdx.x - distance] : 0u;
        sums[1 - current][threadIdx.x] = sums[current][threadIdx.x] + before;
        current = 1 - current;
        __syncthreads();
    }
    if (index < n) {
        y[index] = static_cast<int>(sums[current][threadIdx.x]);
    }
}
