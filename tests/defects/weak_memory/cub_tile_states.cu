// A scan over tiles keeps states and sums in words of their own without a fence, in place of CUB's tile states.
// launch: grid=4 block=64 replayed
// arg: in:i32[256]=1
// arg: buf:i32[256]
// arg: buf:i32[4]=0
// arg: buf:i32[4]=0
// arg: buf:u64[36]=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,99,99,99,99
// expect: 1[255] = 256
// expect: 1[64] = 65
#include <cub/block/block_scan.cuh>
#include <cub/agent/single_pass_scan_operators.cuh>

using Scan = cub::BlockScan<int, 64>;
using States = cub::ScanTileState<int>;
struct Sum {
    __device__ int operator()(int a, int b) const { return a + b; }
};
using Prefix = cub::TilePrefixCallbackOp<int, Sum, States>;

extern "C" __global__ void defect(
    const int* in, int* out, volatile int* state, volatile int* sums, unsigned long long* tiles
) {
    __shared__ Scan::TempStorage scan;
    __shared__ int before;
    int tile = blockIdx.x, i = 64 * tile + threadIdx.x, value, all;
    Scan(scan).InclusiveSum(in[i], value, all);
    if (threadIdx.x == 0) {
        before = 0;
        if (tile > 0) {
            while (state[tile - 1] == 0) { }
            before = sums[tile - 1];
        }
        sums[tile] = before + all;
        state[tile] = 1;
    }
    __syncthreads();
    out[i] = before + value;
}

extern "C" __global__ void fixed(
    const int* in, int* out, volatile int* state, volatile int* sums, unsigned long long* tiles
) {
    __shared__ Scan::TempStorage scan;
    __shared__ Prefix::TempStorage prefix;
    States states;
    states.Init(gridDim.x, tiles, 0);
    int tile = blockIdx.x, i = 64 * tile + threadIdx.x, value;
    if (tile == 0) {
        int all;
        Scan(scan).InclusiveScan(in[i], value, Sum(), all);
        if (threadIdx.x == 0) states.SetInclusive(0, all);
    } else {
        Prefix before(states, prefix, Sum());
        Scan(scan).InclusiveScan(in[i], value, Sum(), before);
    }
    out[i] = value;
}
