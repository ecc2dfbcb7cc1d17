/*@ lightbench(
    title: "A warp for each head of q, one token at a time",
    steps: [launch(kernel: "decode", grid: ["heads * group", "batch"], block: [32])],
) @*/

// The heads of a group read the same keys and values one after the other: whatever L2 no longer holds comes from memory
// once for each of them.

#include <cuda_bf16.h>

constexpr int d = 128;
constexpr int each = d / 32;  // elements of a lane

__global__ void decode(const __nv_bfloat16* __restrict__ q, const __nv_bfloat16* __restrict__ keys,
                       const __nv_bfloat16* __restrict__ values, const int* __restrict__ table,
                       const int* __restrict__ newest, __nv_bfloat16* __restrict__ o, int heads, int group, int slots,
                       int page) {
    const long long first = threadIdx.x * each;
    const long long place = (static_cast<long long>(blockIdx.y) * gridDim.x + blockIdx.x) * d + first;
    const int head = blockIdx.x / group;
    const int tokens = newest[blockIdx.y] + 1;
    const float factor = rsqrtf(static_cast<float>(d));
    float query[each];
    float sums[each] = {};
#pragma unroll
    for (int index = 0; index < each; ++index) {
        query[index] = __bfloat162float(q[place + index]) * factor;
    }
    float most = __int_as_float(0xff800000);
    float total = 0.0f;
    for (int token = 0; token < tokens; ++token) {
        const long long number = table[static_cast<long long>(blockIdx.y) * slots + token / page];
        const long long at = ((number * heads + head) * page + token % page) * d + first;
        float score = 0.0f;
#pragma unroll
        for (int index = 0; index < each; ++index) {
            score += query[index] * __bfloat162float(keys[at + index]);
        }
#pragma unroll
        for (int step = 16; step > 0; step /= 2) {
            score += __shfl_xor_sync(0xffffffff, score, step);
        }
        const float larger = fmaxf(most, score);
        const float scale = __expf(most - larger);
        const float weight = __expf(score - larger);
        most = larger;
        total = total * scale + weight;
#pragma unroll
        for (int index = 0; index < each; ++index) {
            sums[index] = sums[index] * scale + weight * __bfloat162float(values[at + index]);
        }
    }
#pragma unroll
    for (int index = 0; index < each; ++index) {
        o[place + index] = __float2bfloat16(sums[index] / total);
    }
}
