/*@ lightbench(
    title: "Four vectors of 16 bytes a thread",
    steps: [launch(kernel: "count", grid: ["ceil_div(n, 4096)"], block: [256])],
) @*/
__global__ void count(const unsigned* start, unsigned* y, long long n) {
    uint4* to = reinterpret_cast<uint4*>(y);
    const long long vectors = n / 4;
    const long long first = blockIdx.x * 1024LL + threadIdx.x;
    const unsigned begin = *start;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const long long i = first + 256 * k;
        const unsigned value = begin + 4 * (unsigned)i;
        if (i < vectors) to[i] = make_uint4(value, value + 1, value + 2, value + 3);
    }
}
