/*@ lightbench(
    title: "A pair at once",
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
    // The same pairs, loaded and stored as 8 bytes: nothing moves that nobody wants.
    const long long i = first + 2 * t;
    if (i + 1 < n) {
        const uint2 v = *reinterpret_cast<const uint2*>(x + i);
        *reinterpret_cast<uint2*>(y + i) = make_uint2(even_one(v.x), odd_one(v.y));
    } else if (i < n) {
        y[i] = even_one(x[i]);
    }
// lesson: locked
}
