// The number of elements is no multiple of the block, and nothing stops the last threads.
// launch: grid=4 block=256
// arg: f32:3
// arg: in:f32[1000]=iota
// arg: buf:f32[1000]=1
// expect: 2[999] = 2998
extern "C" __global__ void defect(float a, const float* __restrict__ x, float* __restrict__ y)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    y[i] = a * x[i] + y[i]; // FAULT: out_of_bounds
}

extern "C" __global__ void fixed(float a, const float* __restrict__ x, float* __restrict__ y)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= 1000) return;
    y[i] = a * x[i] + y[i];
}
