// What only another kernel and a function that nobody calls do.
// launch: k
// candidate:

__device__ int counter;

__device__ __noinline__ void sleeper() { __nanosleep(100); }

extern "C" __global__ void other(long long *out) {
    out[0] = clock64();
    counter += 1;
    sleeper();
}

extern "C" __global__ void k(float *out) { out[threadIdx.x] = 1.0f; }
