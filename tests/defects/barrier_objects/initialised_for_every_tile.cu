// A persistent loop initialises its barrier object for every tile, without mbarrier.inval between.
// launch: grid=1 block=32
// arg: in:u32[64]=iota
// arg: buf:u32[32]
// expect: 1[3] = 38
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    unsigned sum = 0;
    for (unsigned round = 0; round < 2; ++round) {
        begin(&full); // FAULT: barrier_divergence
        if (threadIdx.x == 0) {
            arrive_expect(&full, 128);
            load_bulk(tile, in + 32 * round, 128, &full);
        }
        wait(&full, 0);
        sum += tile[threadIdx.x];
        fence_async();
        __syncthreads();
        if (is_fixed && threadIdx.x == 0) invalidate(&full);
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
