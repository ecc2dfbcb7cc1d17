// A ring of two stages flips its parity at every step instead of at every second one.
// launch: grid=1 block=32
// arg: in:u32[128]=iota
// arg: buf:u32[32]
// expect: 1[3] = 204
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const unsigned* in, unsigned* out) {
    __shared__ alignas(128) unsigned tiles[2][32];
    __shared__ Barrier full[2];
    if (threadIdx.x == 0) init(&full[1], 1);
    begin(&full[0]);
    unsigned sum = 0;
    for (unsigned step = 0; step < 4; ++step) {
        if (threadIdx.x == 0) {
            arrive_expect(&full[step % 2], 128);
            load_bulk(tiles[step % 2], in + 32 * step, 128, &full[step % 2]); // OTHER
        }
        wait(&full[step % 2], is_fixed ? step / 2 : step % 2);
        sum += tiles[step % 2][threadIdx.x]; // FAULT: missing_wait
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
