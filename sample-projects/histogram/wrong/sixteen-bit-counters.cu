/*@ lightbench(
    title: "Two counters in one word",
    expect: wrong(numeric),
    steps: [
        fill(buffer: "counts", value: 0),
        launch(kernel: "histogram", grid: ["min(2, ceil_div(n, 256))"], block: [256]),
    ],
) @*/

// The mistake: shared memory is saved by counting in 16 bits, two values to a word. A block counts up to half of
// all bytes, and 65,536 equal ones carry over into the neighbour.
// How it shows: only when some value is very frequent. The sum of all counts is far too large or small then.

__global__ void histogram(const unsigned char* __restrict__ x, unsigned int* __restrict__ counts, long long n) {
    __shared__ unsigned int pairs[128];
    if (threadIdx.x < 128) {
        pairs[threadIdx.x] = 0;
    }
    __syncthreads();
    for (long long index = blockIdx.x * 256LL + threadIdx.x; index < n; index += gridDim.x * 256LL) {
        const unsigned int value = x[index];
        atomicAdd(&pairs[value / 2], value % 2 == 0 ? 1u : 0x10000u);
    }
    __syncthreads();
    const unsigned int pair = pairs[threadIdx.x / 2];
    atomicAdd(&counts[threadIdx.x], threadIdx.x % 2 == 0 ? pair & 0xffffu : pair >> 16);
}
