// Tiles of 36 columns are written every 32 columns, with values that differ.
// launch: grid=4 block=36
// arg: buf:i32[160]=0
// expect: 0[33] = 1
extern "C" __global__ void defect(int* out) {
    int column = blockIdx.x * 32 + threadIdx.x;
    out[column] = blockIdx.x; // FAULT: data_race
}

extern "C" __global__ void fixed(int* out) {
    int column = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.x < 32 || blockIdx.x == 3) out[column] = blockIdx.x;
}
