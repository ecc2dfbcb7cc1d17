/*@ lightbench(
    title: "Adds its counts up before they are complete",
    expect: fault(data_race),
    steps: [
        fill(buffer: "counts", value: 0),
        launch(kernel: "histogram", grid: ["ceil_div(n, 1024)"], block: [256]),
    ],
) @*/

// The mistake: no barrier between counting and adding to the global counts.
// How it shows: what slower warps of the block count after a fast one has passed is lost: a few counts in a
// million.

__global__ void histogram(const unsigned char* __restrict__ x, unsigned int* __restrict__ counts, long long n) {
    __shared__ unsigned int block_counts[256];
    block_counts[threadIdx.x] = 0;
    __syncthreads();
    const long long end = min(n, (blockIdx.x + 1) * 1024LL);
    for (long long index = blockIdx.x * 1024LL + threadIdx.x; index < end; index += 256) {
        atomicAdd(&block_counts[x[index]], 1u);
    }
    atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);
}
