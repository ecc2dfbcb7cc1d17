// What a function does that is called by its address only, through a table.
// candidate: clocks
// toolkit: inline_assembly

using Function = long long (*)(long long);

__device__ __noinline__ long long now(long long value) { return value + clock64(); }
__device__ __noinline__ long long twice(long long value) { return 2 * value; }
__device__ const Function functions[2] = {twice, now};

extern "C" __global__ void k(long long *out, int which) { out[0] = functions[which & 1](out[1]); }
