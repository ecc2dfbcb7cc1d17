/*@ lightbench(
    title: "Counts on top of what is there",
    expect: fault(uninitialized_read),
    steps: [
        launch(kernel: "histogram", grid: ["ceil_div(n, 256)"], block: [256]),
    ],
) @*/

// The mistake: the counters are not set to zero before the launch.
// How it shows: fresh memory is often zero. In a loop over pictures, each histogram contains those before it.

__global__ void histogram(const unsigned char* __restrict__ x, unsigned int* __restrict__ counts, long long n) {
    const long long index = blockIdx.x * 256LL + threadIdx.x;
    if (index < n) {
        atomicAdd(&counts[x[index]], 1u);
    }
}
