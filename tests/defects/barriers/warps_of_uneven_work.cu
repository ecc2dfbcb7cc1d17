// Each warp takes rows from its own list and passes a barrier for each.
// launch: grid=1 block=64 strict
// arg: in:i32[2]=3,5
// arg: buf:i32[64]=0
// expect: 1[63] = 5
extern "C" __global__ void defect(const int* rows, int* done) {
    int warp = threadIdx.x / 32;
    for (int r = 0; r < rows[warp]; r++) {
        done[threadIdx.x] += 1;
        __syncthreads(); // FAULT: barrier_divergence
    }
}

extern "C" __global__ void fixed(const int* rows, int* done) {
    int warp = threadIdx.x / 32;
    for (int r = 0; r < max(rows[0], rows[1]); r++) {
        if (r < rows[warp]) done[threadIdx.x] += 1;
        __syncthreads();
    }
}
