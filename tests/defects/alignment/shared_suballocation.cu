// An array of doubles is placed in dynamic shared memory behind an odd number of bytes.
// launch: grid=1 block=33 shared=344 also=80,100
// arg: in:f32[33]=1
// arg: buf:f64[1]
// expect: 1[0] = 33
extern "C" __global__ void defect(const float* in, double* out) {
    extern __shared__ unsigned char raw[];
    unsigned char* flags = raw;
    double* sums = reinterpret_cast<double*>(raw + blockDim.x);
    flags[threadIdx.x] = in[threadIdx.x] > 0;
    sums[threadIdx.x] = in[threadIdx.x]; // FAULT: misaligned
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0;
        for (int i = 0; i < blockDim.x; i++)
            if (flags[i]) sum += sums[i];
        *out = sum;
    }
}

extern "C" __global__ void fixed(const float* in, double* out) {
    extern __shared__ unsigned char raw[];
    unsigned char* flags = raw;
    double* sums = reinterpret_cast<double*>(raw + (blockDim.x + 7) / 8 * 8);
    flags[threadIdx.x] = in[threadIdx.x] > 0;
    sums[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        double sum = 0;
        for (int i = 0; i < blockDim.x; i++)
            if (flags[i]) sum += sums[i];
        *out = sum;
    }
}
