/*@ lightbench(
    title: "Whole pairs only",
    expect: wrong(unwritten),
    steps: [
        launch(kernel: "mix", grid: ["ceil_div(n, 512)"], block: [256]),
    ],
) @*/

// The mistake: where n is odd, the last element has no partner, and nobody takes it.
// How it shows: one element, the last, is never written.

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
    const long long i = blockIdx.x * 512LL + 2 * threadIdx.x;
    if (i + 1 < n) {
        const uint2 v = *reinterpret_cast<const uint2*>(x + i);
        *reinterpret_cast<uint2*>(y + i) = make_uint2(even_one(v.x), odd_one(v.y));
    }
}
