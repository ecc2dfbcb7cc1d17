// The last box ends beyond the tensor, and its phase expects the bytes inside only; the filled ones count too.
// launch: grid=1 block=32
// arg: in:u32[384]=iota
// arg: map:0 dims=32,12 box=32,8
// arg: buf:u32[32]
// expect: 2[3] = 355
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const CUtensorMap& map, unsigned* out) {
    __shared__ alignas(128) unsigned tile[8][32];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) {
        const unsigned rows = is_fixed ? 8 : 12 - 8;
        arrive_expect(&full, rows * 128);
        load_box(tile, map, 0, 8, &full);
    }
    wait(&full, 0); // FAULT: livelock
    out[threadIdx.x] = tile[3][threadIdx.x]; // FAULT: missing_wait
}

extern "C" __global__ void defect(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out) {
    run<false>(map, out);
}

extern "C" __global__ void fixed(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out) {
    run<true>(map, out);
}
