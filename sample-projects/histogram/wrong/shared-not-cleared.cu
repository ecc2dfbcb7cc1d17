/*@ lightbench(
    title: "Leaves half of its own counters as it finds them",
    expect: fault(uninitialized_read),
    steps: [
        fill(buffer: "counts", value: 0),
        launch(kernel: "histogram", grid: ["ceil_div(n, 1024)"], block: [128]),
    ],
) @*/

// The mistake: `block_counts[threadIdx.x] = 0`, written for blocks of 256 threads and run with 128.
// How it shows: values from 128 on are counted on top of what an earlier block left in shared memory. A dark
// picture is right.

__global__ void histogram(const unsigned char* __restrict__ x, unsigned int* __restrict__ counts, long long n) {
    __shared__ unsigned int block_counts[256];
    block_counts[threadIdx.x] = 0;
    __syncthreads();
    const long long end = min(n, (blockIdx.x + 1) * 1024LL);
    for (long long index = blockIdx.x * 1024LL + threadIdx.x; index < end; index += 128) {
        atomicAdd(&block_counts[x[index]], 1u);
    }
    __syncthreads();
    for (int value = threadIdx.x; value < 256; value += 128) {
        atomicAdd(&counts[value], block_counts[value]);
    }
}
