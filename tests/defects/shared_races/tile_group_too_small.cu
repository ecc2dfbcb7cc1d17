// Tiles of sixteen lanes synchronise themselves, and the exchange crosses tiles.
// launch: grid=1 block=32
// arg: in:i32[32]=iota
// arg: buf:i32[32]
// expect: 1[0] = 31
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int s[32];
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    s[threadIdx.x] = in[threadIdx.x]; // OTHER
    tile.sync();
    out[threadIdx.x] = s[31 - threadIdx.x]; // FAULT: data_race
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int s[32];
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    s[threadIdx.x] = in[threadIdx.x];
    tile.sync();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
