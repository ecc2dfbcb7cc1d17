/*@ lightbench(
    title: "Vectors of 16 bytes from 16 KiB of shared memory",
    steps: [launch(kernel: "sum", grid: ["blocks"], block: [256])],
) @*/
__global__ void sum(const unsigned* x, unsigned* total, long long rounds) {
    __shared__ uint4 held[1024];
    for (int i = threadIdx.x; i < 1024; i += 256) held[i] = reinterpret_cast<const uint4*>(x)[i];
    __syncthreads();
    unsigned own = 0;
    int at = threadIdx.x;
#pragma unroll 4
    for (long long round = 0; round < rounds; ++round) {
#pragma unroll
        for (int quarter = 0; quarter < 4; ++quarter) {
            const uint4 value = held[(at + 256 * quarter) & 1023];
            own += value.x + value.y + value.z + value.w;
        }
        // Another place each time, or the compiler would keep the values.
        at = (at + 32) & 1023;
    }
    own = __reduce_add_sync(0xffffffffu, own);
    if (threadIdx.x % 32 == 0) atomicAdd(total + blockIdx.x, own);
}
