// The parameter is not a grid constant, so that the compiler copies the tensor map to local memory.
// launch: grid=1 block=32
// arg: in:u32[512]=iota
// arg: map:0 dims=32,16 box=32,8
// arg: buf:u32[32]
// arg: u32:0
// expect: 2[3] = 3
#include "hopper.cuh"

__device__ __forceinline__ void run(const CUtensorMap& map, unsigned* out) {
    __shared__ alignas(128) unsigned tile[8][32];
    __shared__ Barrier full;
    begin(&full);
    if (threadIdx.x == 0) {
        arrive_expect(&full, sizeof(tile));
        load_box(tile, map, 0, 0, &full); // FAULT: tensor_map
    }
    wait(&full, 0);
    out[threadIdx.x] = tile[0][threadIdx.x];
}

extern "C" __global__ void defect(const unsigned* in, CUtensorMap map, unsigned* out, unsigned change) {
    // A function that may change the map makes a copy of it necessary.
    reinterpret_cast<unsigned volatile*>(&map)[0] += change;
    run(map, out);
}

extern "C" __global__ void fixed(const unsigned* in, const __grid_constant__ CUtensorMap map, unsigned* out, unsigned) {
    run(map, out);
}
