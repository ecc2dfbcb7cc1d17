// A table in constant memory has 16 coefficients, and 17 taps are read.
// launch: grid=1 block=32
// arg: in:f32[64]=1
// arg: buf:f32[32]
// expect: 1[5] = 136
__constant__ float taps[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

extern "C" __global__ void defect(const float* x, float* y) {
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k <= 16; k++)
        sum += taps[k] * x[threadIdx.x + k]; // FAULT: out_of_bounds
    y[threadIdx.x] = sum;
}

extern "C" __global__ void fixed(const float* x, float* y) {
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 16; k++)
        sum += taps[k] * x[threadIdx.x + k];
    y[threadIdx.x] = sum;
}
