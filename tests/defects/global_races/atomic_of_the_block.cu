// An atomic that counts for the block only is used by all blocks.
// launch: grid=4 block=32 also=80,100
// arg: buf:u32[1]=0
// expect: 0[0] = 128
extern "C" __global__ void defect(unsigned* hits) {
    atomicAdd_block(hits, 1u); // FAULT: data_race
}

extern "C" __global__ void fixed(unsigned* hits) {
    atomicAdd(hits, 1u);
}
