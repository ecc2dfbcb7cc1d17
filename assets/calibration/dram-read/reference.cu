/*@ lightbench(
    title: "Partial sums of threads",
    steps: [launch(kernel: "sum", grid: [1024], block: [256])],
) @*/
__global__ void sum(const unsigned* x, unsigned* total, long long n) {
    unsigned own = 0;
    for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += 1024 * 256LL) own += x[i];
    atomicAdd(total, own);
}
