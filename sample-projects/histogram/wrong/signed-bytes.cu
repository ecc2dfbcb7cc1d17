/*@ lightbench(
    title: "Takes bytes to be signed",
    expect: fault(out_of_bounds),
    steps: [
        fill(buffer: "counts", value: 0),
        launch(kernel: "histogram", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: `char` is signed here, so the byte 200 becomes the index -56.
// How it shows: counters before the first are counted up: whoever owns that memory will wonder. Text is ASCII and
// always works.

__global__ void histogram(const unsigned char* __restrict__ x, unsigned int* __restrict__ counts, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index < n) {
        const char value = static_cast<char>(x[index]);
        atomicAdd(&counts[static_cast<int>(value)], 1u);
    }
}
