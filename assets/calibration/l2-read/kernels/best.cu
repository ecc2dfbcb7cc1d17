/*@ lightbench(
    title: "Every block reads another sixteenth part in each pass, past L1",
    steps: [launch(kernel: "sum", grid: ["ceil_div(n, 1024)"], block: [256])],
) @*/
__global__ void sum(const unsigned* x, unsigned* total, long long n, long long passes) {
    const uint4* from = reinterpret_cast<const uint4*>(x);
    const long long parts = n / 1024;
    long long part = blockIdx.x;
    unsigned own = 0;
#pragma unroll 8
    for (long long pass = 0; pass < passes; ++pass) {
        const uint4 held = __ldcg(from + part * 256 + threadIdx.x);
        own += held.x + held.y + held.z + held.w;
        part += 97;
        while (part >= parts) part -= parts;
    }
    own = __reduce_add_sync(0xffffffffu, own);
    if (threadIdx.x % 32 == 0) atomicAdd(total, own);
}
