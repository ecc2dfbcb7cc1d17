// The second stage follows the first one of 96 bytes; boxes begin at multiples of 128 bytes.
// launch: grid=1 block=32
// arg: in:u32[384]=iota
// arg: map:0 dims=24,16 box=24,1
// arg: buf:u32[24]
// expect: 2[3] = 27
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const CUtensorMap& map, unsigned* out) {
    __shared__ alignas(128) unsigned memory[64];
    __shared__ Barrier full;
    begin(&full);
    unsigned* second = memory + (is_fixed ? 32 : 24);
    if (threadIdx.x == 0) {
        arrive_expect(&full, 2 * 96);
        load_box(memory, map, 0, 0, &full);
        load_box(second, map, 0, 1, &full); // FAULT: misaligned
    }
    wait(&full, 0);
    if (threadIdx.x < 24) out[threadIdx.x] = second[threadIdx.x];
}

extern "C" __global__ void defect(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out) {
    run<false>(map, out);
}

extern "C" __global__ void fixed(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out) {
    run<true>(map, out);
}
