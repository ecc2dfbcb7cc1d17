/*@ lightbench(
    title: "One thread a word, partial sums of threads",
    steps: [
        launch(kernel: "count", args: ["start", "y", "written"], grid: ["ceil_div(written, 256)"], block: [256]),
        launch(kernel: "sum", args: ["x", "total", "read"], grid: [1024], block: [256]),
    ],
) @*/
__global__ void count(const unsigned* start, unsigned* y, long long n) {
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    if (i < n) y[i] = *start + (unsigned)i;
}

__global__ void sum(const unsigned* x, unsigned* total, long long n) {
    unsigned own = 0;
    for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += 1024 * 256LL) own += x[i];
    atomicAdd(total, own);
}
