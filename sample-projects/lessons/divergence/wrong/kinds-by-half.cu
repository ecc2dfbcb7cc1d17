/*@ lightbench(
    title: "The first half of a block is called even",
    expect: wrong(numeric),
    steps: [
        launch(kernel: "mix", grid: ["ceil_div(n, 512)"], block: [256]),
    ],
) @*/

// The mistake: warps of one kind, but elements of both: the branch was moved and the elements were not.
// How it shows: half of the elements went through the other computation.

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
    for (int k = 0; k < 2; ++k) {
        const long long i = blockIdx.x * 512LL + 256 * k + threadIdx.x;
        if (i < n) {
            y[i] = threadIdx.x < 128 ? even_one(x[i]) : odd_one(x[i]);
        }
    }
}
