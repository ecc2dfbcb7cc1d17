// A warp handles a row in steps of 32, and the last step of the last row goes beyond it.
// launch: grid=1 block=64 also=80,100
// arg: in:f32[80]=1
// arg: buf:f32[2]
// arg: i32:40
// expect: 1[1] = 40
extern "C" __global__ void defect(const float* m, float* sums, int columns) {
    int row = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int c = 0; c < columns; c += 32) sum += m[row * columns + c + lane]; // FAULT: out_of_bounds
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) sums[row] = sum;
}

extern "C" __global__ void fixed(const float* m, float* sums, int columns) {
    int row = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int c = lane; c < columns; c += 32) sum += m[row * columns + c];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) sums[row] = sum;
}
