// The leader of those that found something tells the whole warp, with the mask of the finders only.
// launch: grid=1 block=32
// arg: in:i32[32]=iota%5
// arg: buf:u32[1]=0
// arg: buf:u32[32]=0
// expect: 1[0] = 6
extern "C" __global__ void defect(const int* x, unsigned* total, unsigned* slot) {
    bool hit = x[threadIdx.x] == 3;
    unsigned finders = __ballot_sync(~0u, hit);
    unsigned base = 0;
    int leader = __ffs(finders) - 1;
    if (threadIdx.x == leader) base = atomicAdd(total, __popc(finders));
    base = __shfl_sync(finders, base, leader); // FAULT: warp_sync
    slot[threadIdx.x] = base;
}

// One atomic for all finders of a warp: the mask of those that are there by themselves.
extern "C" __global__ void fixed(const int* x, unsigned* total, unsigned* slot) {
    bool hit = x[threadIdx.x] == 3;
    if (hit) {
        unsigned finders = __activemask();
        int leader = __ffs(finders) - 1;
        unsigned base = 0;
        if (threadIdx.x == leader) base = atomicAdd(total, __popc(finders));
        base = __shfl_sync(finders, base, leader);
        slot[threadIdx.x] = base + __popc(finders & ((1u << threadIdx.x) - 1));
    }
}
