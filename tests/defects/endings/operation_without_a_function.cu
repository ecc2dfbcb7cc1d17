// The table of operations has an empty entry, and it is called.
// launch: grid=1 block=4
// arg: in:i32[4]=0,1,2,1
// arg: buf:f32[4]
// arg: i32:0
// expect: 1[2] = 4
using operation = float (*)(float);
__device__ float twice(float x) { return 2 * x; }
__device__ float negated(float x) { return -x; }
__device__ operation table[3] = {twice, negated, nullptr};

extern "C" __global__ void defect(const int* which, float* y, int) {
    y[threadIdx.x] = table[which[threadIdx.x]](threadIdx.x); // FAULT: call
}

extern "C" __global__ void fixed(const int* which, float* y, int) {
    operation chosen = table[which[threadIdx.x]];
    y[threadIdx.x] = (chosen ? chosen : twice)(threadIdx.x);
}
