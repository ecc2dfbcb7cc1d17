// Lanes that hold a key look for equal keys among all lanes.
// launch: grid=1 block=32 strict
// arg: in:i32[32]=iota%4
// arg: buf:u32[32]=0
// expect: 1[1] = 572662306
extern "C" __global__ void defect(const int* key, unsigned* peers) {
    int k = key[threadIdx.x];
    if (k != 0) peers[threadIdx.x] = __match_any_sync(~0u, k); // FAULT: warp_sync
    if (k == 0) atomicOr(&peers[0], 1u);
}

extern "C" __global__ void fixed(const int* key, unsigned* peers) {
    int k = key[threadIdx.x];
    unsigned mask = __ballot_sync(~0u, k != 0);
    if (k != 0) peers[threadIdx.x] = __match_any_sync(mask, k);
    if (k == 0) atomicOr(&peers[0], 1u);
}
