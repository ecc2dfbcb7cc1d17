// The block copies the tensor map to shared memory, from where copies cannot read it.
// launch: grid=1 block=32
// arg: in:u32[512]=iota
// arg: map:0 dims=32,16 box=32,8
// arg: buf:u32[32]
// expect: 2[3] = 3
#include "hopper.cuh"

template <bool is_fixed>
__device__ __forceinline__ void run(const CUtensorMap& map, unsigned* out) {
    __shared__ alignas(128) unsigned tile[8][32];
    __shared__ Barrier full;
    begin(&full);
    __shared__ alignas(128) CUtensorMap staged;
    reinterpret_cast<unsigned*>(&staged)[threadIdx.x] = reinterpret_cast<const unsigned*>(&map)[threadIdx.x];
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        arrive_expect(&full, sizeof(tile));
        load_box(tile, is_fixed ? map : staged, 0, 0, &full); // FAULT: tensor_map
    }
    wait(&full, 0);
    out[threadIdx.x] = tile[0][threadIdx.x];
}

extern "C" __global__ void defect(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out) {
    run<false>(map, out);
}

extern "C" __global__ void fixed(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out) {
    run<true>(map, out);
}
