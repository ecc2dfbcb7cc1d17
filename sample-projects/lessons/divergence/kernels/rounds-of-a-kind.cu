/*@ lightbench(
    title: "A round for the even ones, a round for the odd ones",
    steps: [
        launch(kernel: "mix", grid: ["ceil_div(n, 512)"], block: [256]),
    ],
) @*/

// lesson: locked, the two computations are the task, and a block has 256 threads for 512 elements
// Two computations that have nothing in common but their length.
__device__ __forceinline__ unsigned int even_one(unsigned int v) {
#pragma unroll 1
    for (int round = 0; round < 16; ++round) {
        v = v * 1664525u + 1013904223u;
    }
    return v;
}

__device__ __forceinline__ unsigned int odd_one(unsigned int v) {
#pragma unroll 1
    for (int round = 0; round < 16; ++round) {
        v ^= v << 13;
        v ^= v >> 17;
        v ^= v << 5;
    }
    return v;
}

__global__ void mix(const unsigned int* __restrict__ x, unsigned int* __restrict__ y, long long n) {
    const long long first = blockIdx.x * 512LL;
    const int t = threadIdx.x;
// lesson: open
    // Thread t has the pair 2t, 2t + 1: in each round all lanes of a warp do the same.
    if (first + 2 * t < n) {
        y[first + 2 * t] = even_one(x[first + 2 * t]);
    }
    if (first + 2 * t + 1 < n) {
        y[first + 2 * t + 1] = odd_one(x[first + 2 * t + 1]);
    }
// lesson: locked
}
