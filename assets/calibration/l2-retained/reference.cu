/*@ lightbench(
    title: "One thread a word",
    steps: [launch(kernel: "count", grid: ["ceil_div(n, 256)"], block: [256])],
) @*/
__global__ void count(const unsigned* start, unsigned* y, long long n) {
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    if (i < n) y[i] = *start + (unsigned)i;
}
