/*@ lightbench(
    title: "Counts without atomics",
    expect: fault(data_race),
    steps: [
        fill(buffer: "counts", value: 0),
        launch(kernel: "histogram", grid: ["ceil_div(n, 1024)"], block: [256]),
    ],
) @*/

// The mistake: `++` on a shared counter is a load, an addition and a store. Two threads that load before either
// stores have counted once.
// How it shows: the counts add up to less than n, by an amount that changes from run to run. With few threads and
// many values it is often right.

__global__ void histogram(const unsigned char* __restrict__ x, unsigned int* __restrict__ counts, long long n) {
    __shared__ unsigned int block_counts[256];
    block_counts[threadIdx.x] = 0;
    __syncthreads();
    const long long end = min(n, (blockIdx.x + 1) * 1024LL);
    for (long long index = blockIdx.x * 1024LL + threadIdx.x; index < end; index += 256) {
        ++block_counts[x[index]];
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], block_counts[threadIdx.x]);
}
