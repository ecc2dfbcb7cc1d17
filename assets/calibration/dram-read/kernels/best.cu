/*@ lightbench(
    title: "Eight vectors of 16 bytes in flight, one atomic a warp",
    steps: [launch(kernel: "sum", grid: ["ceil_div(n, 32768)"], block: [256])],
) @*/
__global__ void sum(const unsigned* x, unsigned* total, long long n) {
    const uint4* from = reinterpret_cast<const uint4*>(x);
    const long long vectors = n / 4;
    const long long first = blockIdx.x * 8192LL + threadIdx.x;
    unsigned own = 0;
#pragma unroll
    for (int half = 0; half < 4; ++half) {
        uint4 held[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            const long long i = first + 256 * (8 * half + k);
            held[k] = i < vectors ? __ldcs(from + i) : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int k = 0; k < 8; ++k) own += held[k].x + held[k].y + held[k].z + held[k].w;
    }
    own = __reduce_add_sync(0xffffffffu, own);
    if (threadIdx.x % 32 == 0) atomicAdd(total, own);
}
