// A bitonic sort over two warps has a barrier for one warp only.
// launch: grid=1 block=64
// arg: in:i32[64]=iota%9
// arg: buf:i32[64]
// expect: 1[0] = 0
// expect: 1[63] = 8
__device__ void exchange(int* s, unsigned i, unsigned j, unsigned k) {
    unsigned p = i ^ j;
    if (p > i) {
        int a = s[i], b = s[p];
        if ((a > b) == ((i & k) == 0)) {
            s[i] = b;
            s[p] = a;
        }
    }
}

extern "C" __global__ void defect(const int* in, int* out) {
    __shared__ int s[64];
    unsigned i = threadIdx.x;
    s[i] = in[i];
    __syncthreads();
    for (unsigned k = 2; k <= 64; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned p = i ^ j;
            if (p > i) {
                int a = s[i], b = s[p]; // FAULT: data_race
                if ((a > b) == ((i & k) == 0)) {
                    s[i] = b; // FAULT: data_race
                    s[p] = a; // FAULT: data_race
                }
            }
            __syncwarp();
        }
    __syncthreads();
    out[i] = s[i];
}

extern "C" __global__ void fixed(const int* in, int* out) {
    __shared__ int s[64];
    unsigned i = threadIdx.x;
    s[i] = in[i];
    __syncthreads();
    for (unsigned k = 2; k <= 64; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) {
            exchange(s, i, j, k);
            if (j > 16) __syncthreads(); else __syncwarp();
            if (j == 1) __syncthreads();
        }
    __syncthreads();
    out[i] = s[i];
}
