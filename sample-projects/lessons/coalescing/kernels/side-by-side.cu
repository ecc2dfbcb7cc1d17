/*@ lightbench(
    title: "Neighbours in memory to neighbouring threads",
    steps: [
        launch(kernel: "scale", grid: ["ceil_div(n, 256 * 32)"], block: [256]),
    ],
) @*/

// lesson: locked, the task fixes how many threads there are and that each takes 32 elements
constexpr int threads_per_block = 256;
constexpr int per_thread = 32;

__global__ void scale(const float* __restrict__ x, float* __restrict__ y, long long n, float factor) {
    const long long first = static_cast<long long>(blockIdx.x) * threads_per_block * per_thread;
// lesson: open
    // In each round the 256 threads of a block take 256 elements that follow each other.
    for (int k = 0; k < per_thread; ++k) {
        const long long i = first + k * threads_per_block + threadIdx.x;
        if (i < n) {
            y[i] = factor * x[i];
        }
    }
// lesson: locked
}
