/*@ lightbench(
    title: "Stores its counts instead of adding them",
    expect: fault(data_race),
    steps: [
        fill(buffer: "counts", value: 0),
        launch(kernel: "histogram", grid: ["ceil_div(n, 1024)"], block: [256]),
    ],
) @*/

// The mistake: `counts[v] = block_counts[v]` at the end: right while there was one block.
// How it shows: what remains is the histogram of whichever block came last. Up to 1,024 bytes it is right.

__global__ void histogram(const unsigned char* __restrict__ x, unsigned int* __restrict__ counts, long long n) {
    __shared__ unsigned int block_counts[256];
    block_counts[threadIdx.x] = 0;
    __syncthreads();
    const long long end = min(n, (blockIdx.x + 1) * 1024LL);
    for (long long index = blockIdx.x * 1024LL + threadIdx.x; index < end; index += 256) {
        atomicAdd(&block_counts[x[index]], 1u);
    }
    __syncthreads();
    counts[threadIdx.x] = block_counts[threadIdx.x];
}
