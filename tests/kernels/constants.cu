// Constant memory, tables of every type, pointers to other variables, and statics of a function.
__constant__ float filter[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
__constant__ double doubles[2] = {1.5, -2.25};
__constant__ unsigned char bytes[6] = {1, 2, 3, 4, 5, 255};
__device__ int numbers[4] = {10, 20, 30, 40};
__device__ int* pointers[3] = {&numbers[3], numbers, nullptr};
__device__ const char* words[2] = {"even", "odd"};
__device__ long long counter = -7;
struct Pair { short a; double b; int* c; };
__device__ Pair pairs[2] = {{1, 2.5, numbers + 1}, {3, 4.5, numbers + 2}};
extern "C" __global__ void constants(const float* x, float* y, int n) {
    static __shared__ float s[260];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t + 2] = i < n ? x[i] : 0;
    if (t < 2) { s[t] = i >= 2 ? x[i - 2] : 0; s[t + 2 + blockDim.x] = i + blockDim.x < n ? x[i + blockDim.x] : 0; }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 5; k++) sum += filter[k] * s[t + k];
    if (i < n) y[i] = sum + (float)doubles[i & 1] + bytes[i % 6] + *pointers[i & 1] + words[i & 1][1] + (float)counter + (float)pairs[i & 1].b + *pairs[i & 1].c;
}
