/*@ lightbench(
    title: "Leaves the element itself out",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "scan", grid: [1], block: [256]),
    ],
) @*/

// The mistake: the exclusive prefix sum (what comes before each element), where the inclusive one is asked for.
// How it shows: everything is shifted by one place. Zero input is right, and so is a comparison that starts one
// further.

__global__ void scan(const int* __restrict__ x, int* __restrict__ y, long long n) {
    __shared__ unsigned int sums[256];
    unsigned int carry = 0;
    for (long long first = 0; first < n; first += 256) {
        const long long index = first + threadIdx.x;
        sums[threadIdx.x] = index < n ? static_cast<unsigned int>(x[index]) : 0u;
        __syncthreads();
        for (int distance = 1; distance < 256; distance *= 2) {
            const unsigned int before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0u;
            __syncthreads();
            sums[threadIdx.x] += before;
            __syncthreads();
        }
        if (index < n) {
            y[index] = static_cast<int>(carry + (threadIdx.x > 0 ? sums[threadIdx.x - 1] : 0u));
        }
        carry += sums[255];
        __syncthreads();
    }
}
