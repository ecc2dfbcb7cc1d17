/*@ lightbench(
    title: "Begin here: one byte for each access",
    steps: [
        launch(kernel: "invert", grid: ["ceil_div(n, 256 * 16)"], block: [256]),
    ],
) @*/

// lesson: locked, each of 256 threads computes sixteen bytes
constexpr int threads_per_block = 256;
constexpr int per_thread = 16;

__global__ void invert(const unsigned char* __restrict__ x, unsigned char* __restrict__ y, long long n) {
    const long long first = static_cast<long long>(blockIdx.x) * threads_per_block * per_thread;
// lesson: open
    // In each round the threads of a block access consecutive bytes.
    for (int k = 0; k < per_thread; ++k) {
        const long long i = first + k * threads_per_block + threadIdx.x;
        if (i < n) {
            y[i] = 255 - x[i];
        }
    }
// lesson: locked
}
