// A ping-pong scan starts from the buffer that nothing was stored in.
// launch: grid=1 block=16 also=80,100
// arg: in:i32[16]=1
// arg: buf:i32[16]
// expect: 1[15] = 16
extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int temp[2][16];
    int t = threadIdx.x, from = 0, to = 1;
    temp[to][t] = in[t];
    __syncthreads();
    for (int offset = 1; offset < 16; offset *= 2) {
        temp[to][t] = temp[from][t] + (t >= offset ? temp[from][t - offset] : 0);
        __syncthreads();
        from ^= 1; to ^= 1;
    }
    out[t] = temp[from][t]; // FAULT: uninitialized_read
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int temp[2][16];
    int t = threadIdx.x, from = 0, to = 1;
    temp[from][t] = in[t];
    __syncthreads();
    for (int offset = 1; offset < 16; offset *= 2) {
        temp[to][t] = temp[from][t] + (t >= offset ? temp[from][t - offset] : 0);
        __syncthreads();
        from ^= 1; to ^= 1;
    }
    out[t] = temp[from][t];
}
