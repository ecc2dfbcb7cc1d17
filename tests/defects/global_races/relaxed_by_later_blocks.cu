// A distance is read without a barrier behind the atomics of other blocks.
// launch: grid=6 block=32 also=80,100
// arg: buf:i32[1]=1000
// arg: buf:i32[6]
// expect: 0[0] = 94
// expect: 1[5] = 0
__device__ int candidate() {
    // Only blocks that come late improve the distance.
    return blockIdx.x < 3 ? 5000 : 99 - blockIdx.x;
}

extern "C" __global__ void defect(int* distance, int* out) {
    int c = candidate();
    if (c < *distance) atomicMin(distance, c); // OTHER
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = *distance - *distance % 2; // FAULT: data_race
}

extern "C" __global__ void fixed(int* distance, int* out) {
    int c = candidate();
    if (c < *distance)
        atomicMin(distance, c);
    if (threadIdx.x == 0)
        out[blockIdx.x] = 0;
}
