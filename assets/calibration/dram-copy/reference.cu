/*@ lightbench(
    title: "One thread a word",
    steps: [launch(kernel: "copy", grid: ["ceil_div(n, 256)"], block: [256])],
) @*/
__global__ void copy(const unsigned* x, unsigned* y, long long n) {
    const long long i = blockIdx.x * 256LL + threadIdx.x;
    if (i < n) y[i] = x[i];
}
