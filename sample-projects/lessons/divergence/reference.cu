/*@ lightbench(
    title: "Reference: one thread per element",
    steps: [
        launch(kernel: "mix_reference", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

__global__ void mix_reference(const unsigned int* x, unsigned int* y, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index >= n) {
        return;
    }
    unsigned int v = x[index];
    for (int round = 0; round < 16; ++round) {
        if (index % 2 == 0) {
            v = v * 1664525u + 1013904223u;
        } else {
            v ^= v << 13;
            v ^= v >> 17;
            v ^= v << 5;
        }
    }
    y[index] = v;
}
