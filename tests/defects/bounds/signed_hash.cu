// A hash overflows the signed int, so the remainder is negative and so is the slot.
// launch: grid=1 block=64 also=80,100
// arg: in:i32[64]=iota
// arg: buf:u32[101]=0
// arg: i32:101
// expect: 1[0] = 1
extern "C" __global__ void defect(const int* keys, unsigned* table, int slots) {
    int key = keys[threadIdx.x];
    int hash = key * 0x9E3779B1;
    atomicAdd(&table[hash % slots], 1u); // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(const int* keys, unsigned* table, int slots) {
    int key = keys[threadIdx.x];
    unsigned hash = key * 0x9E3779B1u;
    atomicAdd(&table[hash % slots], 1u);
}
