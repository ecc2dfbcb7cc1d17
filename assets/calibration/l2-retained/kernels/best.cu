/*@ lightbench(
    title: "Vectors of 16 bytes, written, then read",
    steps: [
        launch(kernel: "count", args: ["start", "y", "written"], grid: ["ceil_div(written, 4096)"], block: [256]),
        launch(kernel: "sum", args: ["x", "total", "read"], grid: ["ceil_div(read, 8192)"], block: [256]),
    ],
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

// Plain loads: those that are to be forgotten first would leave in L2 what was written.
__global__ void sum(const unsigned* x, unsigned* total, long long n) {
    const uint4* from = reinterpret_cast<const uint4*>(x);
    const long long vectors = n / 4;
    const long long first = blockIdx.x * 2048LL + threadIdx.x;
    uint4 held[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) {
        const long long i = first + 256 * k;
        held[k] = i < vectors ? from[i] : make_uint4(0, 0, 0, 0);
    }
    unsigned own = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) own += held[k].x + held[k].y + held[k].z + held[k].w;
    own = __reduce_add_sync(0xffffffffu, own);
    if (threadIdx.x % 32 == 0) atomicAdd(total, own);
}
