// The largest value so far is looked at before an atomic in an unrolled loop, and used behind it without a barrier.
// launch: grid=2 block=1 also=80,100
// arg: buf:i32[4]=5,5,5,5
// arg: in:i32[8]=1,1,1,9,0,0,0,7
// arg: buf:i32[2]
// expect: 0[3] = 9
// expect: 2[1] = 0
extern "C" __global__ void defect(int* largest, const int* value, int* out) {
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        int v = value[4 * blockIdx.x + k];
        if (v > largest[k]) atomicMax(&largest[k], v); // OTHER
    }
    atomicAdd(&largest[0], 1); // OTHER
    out[blockIdx.x] = largest[0] + largest[3]; // FAULT: data_race
}

extern "C" __global__ void fixed(int* largest, const int* value, int* out) {
    #pragma unroll
    for (int k = 0; k < 4; k++) {
        int v = value[4 * blockIdx.x + k];
        if (v > largest[k])
            atomicMax(&largest[k], v);
    }
    // Others change what the first copies of the loop looked at.
    atomicAdd(&largest[0], blockIdx.x);
    atomicAdd(&largest[1], blockIdx.x);
    out[blockIdx.x] = 0;
}
