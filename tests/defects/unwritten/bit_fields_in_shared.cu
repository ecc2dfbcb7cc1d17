// Bit-fields of a neighbour in shared memory, of which the neighbour set only one.
// launch: grid=1 block=32 as-written also=80,100
// arg: in:u32[32]=5
// arg: buf:u32[32]
// expect: 1[3] = 1
struct Entry {
    unsigned valid : 1;
    unsigned key : 20;
};

extern "C" __global__ void defect(const unsigned* x, unsigned* y) {
    __shared__ Entry entries[32];
    entries[threadIdx.x].key = x[threadIdx.x];
    __syncwarp();
    const Entry& other = entries[threadIdx.x ^ 1];
    unsigned found = 0;
    if (other.valid) // FAULT: uninitialized_read
        found = other.key == x[threadIdx.x];
    y[threadIdx.x] = found;
}

extern "C" __global__ void fixed(const unsigned* x, unsigned* y) {
    __shared__ Entry entries[32];
    entries[threadIdx.x].key = x[threadIdx.x];
    entries[threadIdx.x].valid = 1;
    __syncwarp();
    const Entry& other = entries[threadIdx.x ^ 1];
    unsigned found = 0;
    if (other.valid)
        found = other.key == x[threadIdx.x];
    y[threadIdx.x] = found;
}
