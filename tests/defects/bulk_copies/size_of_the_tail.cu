// The last copy has the size of the rest, which is no multiple of 16 bytes.
// launch: grid=1 block=32
// arg: in:u32[128]=iota
// arg: buf:u32[50]
// arg: u32:50
// expect: 1[49] = 49
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out, unsigned count) {
    __shared__ alignas(128) unsigned tile[64];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) {
        const unsigned bytes = is_fixed ? (4 * count + 15) / 16 * 16 : 4 * count;
        arrive_expect(&full, bytes);
        load_bulk(tile, in, bytes, &full); // FAULT: misaligned
    }
    wait(&full, 0);
    for (unsigned index = threadIdx.x; index < count; index += 32) out[index] = tile[index];
}

extern "C" __global__ void defect(const unsigned* in, unsigned* out, unsigned count) {
    run<false>(in, out, count);
}

extern "C" __global__ void fixed(const unsigned* in, unsigned* out, unsigned count) {
    run<true>(in, out, count);
}
