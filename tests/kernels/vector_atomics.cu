// arch: 90
// Gradients of an embedding: rows are added by float4 and float2 atomics of sm_90; and a 128-bit exchange of two words.
extern "C" __global__ void embedding_backward(const float4* gradient, const int* token, float4* table, int width4) {
    int t = blockIdx.x;
    for (int i = threadIdx.x; i < width4; i += blockDim.x) atomicAdd(&table[token[t] * width4 + i], gradient[t * width4 + i]);
}
extern "C" __global__ void pairs_backward(const float2* gradient, const int* token, float2* table, int width2) {
    int t = blockIdx.x;
    for (int i = threadIdx.x; i < width2; i += blockDim.x) atomicAdd(&table[token[t] * width2 + i], gradient[t * width2 + i]);
}
struct __align__(16) Pair { unsigned long long count, sum; };
extern "C" __global__ void pair_exchange(Pair* total, int n) {
    unsigned long long mine = blockIdx.x * blockDim.x + threadIdx.x;
    if (mine >= n) return;
    Pair old = {0, 0}, seen;
    while (true) {
        Pair next = {old.count + 1, old.sum + mine};
        asm volatile("{ .reg .b128 c, v, r; mov.b128 c, {%2, %3}; mov.b128 v, {%4, %5}; atom.global.cas.b128 r, [%6], c, v; mov.b128 {%0, %1}, r; }"
                     : "=l"(seen.count), "=l"(seen.sum) : "l"(old.count), "l"(old.sum), "l"(next.count), "l"(next.sum), "l"(total) : "memory");
        if (seen.count == old.count && seen.sum == old.sum) break;
        old = seen;
    }
}
