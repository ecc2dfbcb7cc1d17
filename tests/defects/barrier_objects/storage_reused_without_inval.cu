// The storage of a barrier object becomes a counter while the object is still valid.
// launch: grid=1 block=32
// arg: in:u32[32]=iota
// arg: buf:u32[32]
// expect: 1[3] = 4
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) {
        arrive_expect(&full, 128);
        load_bulk(tile, in, 128, &full);
    }
    wait(&full, 0);
    __syncthreads();
    if (threadIdx.x == 0) {
        if (is_fixed) invalidate(&full);
        full = 1; // FAULT: barrier_divergence
    }
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x] + static_cast<unsigned>(full);
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
