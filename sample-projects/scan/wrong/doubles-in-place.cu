/*@ lightbench(
    title: "Adds and overwrites in one array",
    expect: fault(data_race),
    steps: [
        launch(kernel: "scan", grid: [1], block: [256]),
    ],
) @*/

// The mistake: in each round a thread adds what another thread is just overwriting. There must be a barrier between the
// two, or two arrays that take turns.
// How it shows: inside a warp it works on most GPUs; between warps sometimes an element is counted twice.

__global__ void scan(const int* __restrict__ x, int* __restrict__ y, long long n) {
    __shared__ unsigned int sums[256];
    unsigned int carry = 0;
    for (long long first = 0; first < n; first += 256) {
        const long long index = first + threadIdx.x;
        sums[threadIdx.x] = index < n ? static_cast<unsigned int>(x[index]) : 0u;
        __syncthreads();
        for (int distance = 1; distance < 256; distance *= 2) {
            if (threadIdx.x >= distance) {
                sums[threadIdx.x] += sums[threadIdx.x - distance];
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
