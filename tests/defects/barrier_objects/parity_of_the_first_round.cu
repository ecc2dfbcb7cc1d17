// The parity of the wait is constant, so that the wait of the second round returns at once.
// launch: grid=1 block=32
// arg: in:u32[96]=iota
// arg: buf:u32[32]
// expect: 1[3] = 105
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tile[32];
    __shared__ Barrier full;
    begin(&full);
    unsigned sum = 0;
    for (unsigned round = 0; round < 3; ++round) {
        if (threadIdx.x == 0) {
            arrive_expect(&full, 128);
            load_bulk(tile, in + 32 * round, 128, &full); // OTHER
        }
        wait(&full, is_fixed ? round % 2 : 0);
        sum += tile[threadIdx.x]; // FAULT: missing_wait
        fence_async();
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out) {
    run<false>(in, out);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out) {
    run<true>(in, out);
}
