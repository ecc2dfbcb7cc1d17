/*@ lightbench(
    title: "The sum once, times the passes",
    steps: [launch(kernel: "sum", grid: [64], block: [256])],
) @*/
__global__ void sum(const unsigned* x, unsigned* total, long long n, long long passes) {
    unsigned own = 0;
    for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += 64 * 256LL) own += x[i];
    atomicAdd(total, own * (unsigned)passes);
}
