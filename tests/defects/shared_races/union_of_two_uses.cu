// One piece of shared memory is used for two things, and the second begins while the first is read.
// launch: grid=1 block=64 shared=256 also=80,100
// arg: in:i32[64]=iota
// arg: buf:i32[64]
// expect: 1[0] = 63
extern "C" __global__ void defect(const int* in, int* out) {
    extern __shared__ unsigned char memory[];
    int* keys = reinterpret_cast<int*>(memory);
    short* ranks = reinterpret_cast<short*>(memory);
    keys[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    int key = keys[63 - threadIdx.x]; // OTHER
    ranks[threadIdx.x] = threadIdx.x; // FAULT: data_race
    __syncthreads();
    out[threadIdx.x] = key + ranks[threadIdx.x] - threadIdx.x;
}

extern "C" __global__ void fixed(const int* in, int* out) {
    extern __shared__ unsigned char memory[];
    int* keys = reinterpret_cast<int*>(memory);
    short* ranks = reinterpret_cast<short*>(memory);
    keys[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    int key = keys[63 - threadIdx.x];
    __syncthreads();
    ranks[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = key + ranks[threadIdx.x] - threadIdx.x;
}
