/*@ lightbench(
    title: "Four vectors of 16 bytes a thread, read before any is written",
    steps: [launch(kernel: "copy", grid: ["ceil_div(n, 4096)"], block: [256])],
) @*/
__global__ void copy(const unsigned* x, unsigned* y, long long n) {
    const uint4* from = reinterpret_cast<const uint4*>(x);
    uint4* to = reinterpret_cast<uint4*>(y);
    const long long vectors = n / 4;
    const long long first = blockIdx.x * 1024LL + threadIdx.x;
    uint4 held[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (first + 256 * k < vectors) held[k] = __ldcs(from + first + 256 * k);
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (first + 256 * k < vectors) __stcs(to + first + 256 * k, held[k]);
}
