/*@ lightbench(
    title: "One block walks over everything",
    params: { "BLOCK": [1024, 512, 256] },
    steps: [
        launch(kernel: "scan<PARAM_BLOCK>", grid: [1], block: ["BLOCK"]),
    ],
) @*/

// Inside a block, threads can wait for each other, so one block can do it all: 1,024 elements at a time, doubling the
// distance that sums travel in each round (Hillis and Steele, 1986), and the last sum is carried to the next 1,024. Two
// arrays take turns, so that nobody overwrites what another has yet to read. One multiprocessor of 132 is at work.

template <int BLOCK>
__global__ void __launch_bounds__(BLOCK) scan(const int* __restrict__ x, int* __restrict__ y, long long n) {
    __shared__ unsigned int sums[2][BLOCK];
    unsigned int carry = 0;
    for (long long first = 0; first < n; first += BLOCK) {
        const long long index = first + threadIdx.x;
        int current = 0;
        sums[current][threadIdx.x] = index < n ? static_cast<unsigned int>(x[index]) : 0u;
        __syncthreads();
        for (int distance = 1; distance < BLOCK; distance *= 2) {
            const unsigned int before = threadIdx.x >= distance ? sums[current][threadIdx.x - distance] : 0u;
            sums[1 - current][threadIdx.x] = sums[current][threadIdx.x] + before;
            current = 1 - current;
            __syncthreads();
        }
        if (index < n) {
            y[index] = static_cast<int>(carry + sums[current][threadIdx.x]);
        }
        carry += sums[current][BLOCK - 1];
        __syncthreads();
    }
}
