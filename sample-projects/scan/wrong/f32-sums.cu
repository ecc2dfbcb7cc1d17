/*@ lightbench(
    title: "Adds in f32",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "scan", grid: [1], block: [256]),
    ],
) @*/

// The mistake: the sums are floats, `because shuffles are faster in float` (they are not). An f32 holds every whole
// number up to 16,777,216.
// How it shows: with small numbers it is right for a long time, and afterwards off by one here and there.

__global__ void scan(const int* __restrict__ x, int* __restrict__ y, long long n) {
    __shared__ float sums[256];
    float carry = 0.0f;
    for (long long first = 0; first < n; first += 256) {
        const long long index = first + threadIdx.x;
        sums[threadIdx.x] = index < n ? static_cast<float>(x[index]) : 0.0f;
        __syncthreads();
        for (int distance = 1; distance < 256; distance *= 2) {
            const float before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0.0f;
            __syncthreads();
            sums[threadIdx.x] += before;
            __syncthreads();
        }
        if (index < n) {
            y[index] = static_cast<int>(static_cast<long long>(carry + sums[threadIdx.x]));
        }
        carry += sums[255];
        __syncthreads();
    }
}
