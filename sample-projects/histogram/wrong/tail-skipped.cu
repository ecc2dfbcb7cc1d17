/*@ lightbench(
    title: "Whole words only",
    expect: wrong(numeric),
    steps: [
        fill(buffer: "counts", value: 0),
        launch(kernel: "histogram", grid: ["ceil_div(n, 4 * 256)"], block: [256]),
    ],
) @*/

// The mistake: four bytes per load, and the last n % 4 are left out.
// How it shows: the counts add up to a multiple of four.

__global__ void histogram(const unsigned char* __restrict__ x, unsigned int* __restrict__ counts, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index < n / 4) {
        const unsigned int word = reinterpret_cast<const unsigned int*>(x)[index];
        for (int shift = 0; shift < 32; shift += 8) {
            atomicAdd(&counts[word >> shift & 255u], 1u);
        }
    }
}
