/*@ lightbench(
    title: "Only the threads that add wait for each other",
    expect: fault(barrier_divergence),
    steps: [
        launch(kernel: "scan", grid: [1], block: [256]),
    ],
) @*/

// The mistake: the barrier stands in the branch, so in round d the first d threads never come to it.
// How it shows: on old GPUs a hang; on newer ones, which count warps, often nothing at all.

__global__ void scan(const int* __restrict__ x, int* __restrict__ y, long long n) {
    __shared__ unsigned int sums[256];
    unsigned int carry = 0;
    for (long long first = 0; first < n; first += 256) {
        const long long index = first + threadIdx.x;
        sums[threadIdx.x] = index < n ? static_cast<unsigned int>(x[index]) : 0u;
        __syncthreads();
        for (int distance = 1; distance < 256; distance *= 2) {
            if (threadIdx.x >= distance) {
                const unsigned int before = sums[threadIdx.x - distance];
                __syncthreads();
                sums[threadIdx.x] += before;
            }
            __syncthreads();
        }
        if (index < n) {
            y[index] = static_cast<int>(carry + sums[threadIdx.x]);
        }
        carry += sums[255];
        __syncthreads();
    }
}
