// Two buffers are filled in turn with a single barrier before the read, and the read of one meets its next filling.
// launch: grid=1 block=64 also=80,100
// arg: in:f32[512]=1
// arg: buf:f32[64]
// expect: 1[63] = 16
extern "C" __global__ void defect(const float* in, float* out) {
    __shared__ float buf[2][64];
    int t = threadIdx.x;
    float sum = 0;
    buf[0][t] = in[t];
    for (int k = 0; k < 8; k++) {
        __syncthreads();
        sum += buf[k & 1][t]; // OTHER
        if (k < 7) buf[(k + 1) & 1][63 - t] = in[(k + 1) * 64 + t]; // OTHER
        sum += buf[k & 1][63 - t]; // OTHER
        buf[k & 1][t] = sum; // FAULT: data_race
    }
    out[t] = sum;
}

extern "C" __global__ void fixed(const float* in, float* out) {
    __shared__ float buf[2][64];
    int t = threadIdx.x;
    float sum = 0;
    buf[0][t] = in[t];
    for (int k = 0; k < 8; k++) {
        __syncthreads();
        sum += buf[k & 1][t];
        if (k < 7) buf[(k + 1) & 1][63 - t] = in[(k + 1) * 64 + t];
        sum += buf[k & 1][63 - t];
    }
    out[t] = sum;
}
