/*@ lightbench(
    title: "The sum once, times the rounds",
    steps: [launch(kernel: "sum", grid: ["blocks"], block: [256])],
) @*/
__global__ void sum(const unsigned* x, unsigned* total, long long rounds) {
    unsigned own = 0;
    for (int i = threadIdx.x; i < 4096; i += 256) own += x[i];
    atomicAdd(total + blockIdx.x, own * (unsigned)rounds);
}
