// The first thread that has waited invalidates the barrier object, which the others may not have tested yet.
// launch: grid=1 block=64
// arg: in:u32[64]=iota
// arg: buf:u32[64]
// expect: 1[40] = 40
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[64];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) {
        arrive_expect(&full, 256);
        load_bulk(tile, in, 256, &full);
    }
    wait(&full, 0); // FAULT: uninitialized_read
    if (is_fixed) __syncthreads();
    if (threadIdx.x == 0) invalidate(&full);
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
