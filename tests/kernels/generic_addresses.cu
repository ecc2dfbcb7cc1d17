// One function that reads through pointers to global, shared, local and constant memory.
__constant__ int fixed[4] = {5, 6, 7, 8};
__device__ __noinline__ int total(const int* p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
__device__ __noinline__ int kind(const void* p) { return __isGlobal(p) + __isShared(p) * 2 + __isLocal(p) * 4 + __isConstant(p) * 8; }
extern "C" __global__ void generic_addresses(const int* x, int* y, int n) {
    __shared__ int s[4];
    int l[4], t = threadIdx.x;
    for (int i = 0; i < 4; i++) l[i] = x[i] + t;
    if (t < 4) s[t] = x[t] * 2;
    __syncthreads();
    const int* p = t % 4 == 0 ? x : t % 4 == 1 ? s : t % 4 == 2 ? l : fixed;
    y[t] = total(p, 4);
    y[n + t] = kind(p);
}
