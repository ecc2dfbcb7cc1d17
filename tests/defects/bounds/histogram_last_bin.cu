// The largest value belongs to bin 10 of 10, which is one behind the last.
// launch: grid=1 block=64 also=80,100
// arg: in:f32[64]=1
// arg: buf:u32[10]=0
// expect: 1[9] = 64
extern "C" __global__ void defect(const float* samples, unsigned* counts) {
    __shared__ unsigned local[10];
    if (threadIdx.x < 10) local[threadIdx.x] = 0;
    __syncthreads();
    int bin = static_cast<int>(samples[threadIdx.x] * 10.0f);
    atomicAdd(&local[bin], 1u); // FAULT: out_of_bounds
    __syncthreads();
    if (threadIdx.x < 10) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ void fixed(const float* samples, unsigned* counts) {
    __shared__ unsigned local[10];
    if (threadIdx.x < 10) local[threadIdx.x] = 0;
    __syncthreads();
    int bin = min(static_cast<int>(samples[threadIdx.x] * 10.0f), 9);
    atomicAdd(&local[bin], 1u);
    __syncthreads();
    if (threadIdx.x < 10) atomicAdd(&counts[threadIdx.x], local[threadIdx.x]);
}
